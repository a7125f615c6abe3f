/* What the driver has taken for itself: what NVML says the process has of a device, less what the
 * ledger knows. And the calls behind which that grew.
 *
 * NVML is opened and asked by one thread of the library's, and where nobody asks for lines about
 * memory there is no such thread: another thread that forks meanwhile would leave its child with
 * NVML's lock, and the loader's, taken for good.
 *
 * Locks: a brief leaf of its own. errno is kept but by sc_unaccounted_look. Not signal-safe.
 */
#ifndef SC_INTERPOSE_LEDGER_UNACCOUNTED_H
#define SC_INTERPOSE_LEDGER_UNACCOUNTED_H

#include <stdbool.h>
#include <stdint.h>

enum sc_memory_kind;
struct sc_call;
struct sc_statement;

/* A futex that changes when a call was noted: it is the thread's, which waits there. */
extern _Atomic uint32_t sc_unaccounted_news;

/* The process ends: set so that the thread asks nothing more, but for what it is asking. */
extern _Atomic bool sc_unaccounted_stops;

/* The thread loads and starts NVML, which takes its time. Who has set that it stops looks here
 * afterwards: one of the two sees the other. */
extern _Atomic bool sc_unaccounted_opens;

/* There is a thread that looks. */
void sc_unaccounted_start(void);

/* The call may have had the driver take memory for itself. One load where nobody looks. */
void sc_unaccounted_note(const struct sc_call *call, enum sc_memory_kind kind);

/* Asks NVML, where the process holds memory of a device. On the library's own thread alone. True:
 * a function was met lately, whose first launch may take memory: it is worth looking again. */
bool sc_unaccounted_look(void);

/* What the last look has found. */
void sc_unaccounted_fill(struct sc_statement *statement);

#endif
