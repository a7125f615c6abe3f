/* Finds out how much memory the driver has taken for itself: what NVML says the process has of a
 * device, less what the ledger knows. Also notes the calls behind which that grew.
 *
 * NVML is opened and asked by one thread of the library's, and where nobody asks for lines about
 * memory there is no such thread: another thread that forks meanwhile would leave its child with
 * NVML's lock, and the loader's, taken for good.
 *
 * Locks: a brief leaf of its own. errno is kept but by sc_unaccounted_look. Not signal-safe. */
#ifndef SC_INTERPOSE_LEDGER_UNACCOUNTED_H
#define SC_INTERPOSE_LEDGER_UNACCOUNTED_H

#include <stdbool.h>
#include <stdint.h>

enum sc_memory_kind;
struct sc_call;
struct sc_statement;

/* A futex on which the library's thread waits; it changes when a call was noted. */
extern _Atomic uint32_t sc_unaccounted_news;

/* The process ends: set so that the thread asks nothing more, but for what it is asking. */
extern _Atomic bool sc_unaccounted_stops;

/* Is the thread loading and starting NVML, which takes its time? Whoever sets sc_unaccounted_stops
 * looks here afterwards, so one of the two sees the other. */
extern _Atomic bool sc_unaccounted_opens;

/* There is a thread that looks. */
void sc_unaccounted_start(void);

/* Notes a call by which the driver may have taken memory for itself. One load if nobody looks. */
void sc_unaccounted_note(const struct sc_call *call, enum sc_memory_kind kind);

/* Asks NVML, where the process holds memory of a device. On the library's own thread alone. True:
 * a function was met lately, whose first launch may take memory: it is worth looking again. */
bool sc_unaccounted_look(void);

/* What the last look has found. */
void sc_unaccounted_fill(struct sc_statement *statement);

#endif
