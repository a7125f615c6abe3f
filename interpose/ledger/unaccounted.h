/* Finds out how much device memory the driver has taken for itself: what NVML says that the process
 * has on a device, minus what the ledger knows. Also notes after which calls that amount has grown.
 *
 * Only one thread, of the library's, opens and asks NVML; if no option asks for lines about memory,
 * there is no such thread. If the program's threads did so, a thread that forks meanwhile would
 * leave its child with NVML's lock, and the loader's, held for ever.
 *
 * Locks: one of its own, a leaf that is held briefly. errno is kept, except by sc_unaccounted_look.
 * Not signal-safe. */

/* Terms (docs/glossary.md):
 *   ledger: which memory the process has, and which call stack asked for it
 */

#ifndef SC_INTERPOSE_LEDGER_UNACCOUNTED_H
#define SC_INTERPOSE_LEDGER_UNACCOUNTED_H

#include <stdbool.h>
#include <stdint.h>

enum sc_memory_kind;
struct sc_call;
struct sc_statement;

/* A futex on which the library's thread waits; it changes when a call was noted. */
extern _Atomic uint32_t sc_unaccounted_news;

/* Set when the process ends: the thread finishes its present question and asks no more. */
extern _Atomic bool sc_unaccounted_stops;

/* Is the thread loading and starting NVML, which takes long? A thread that sets
 * sc_unaccounted_stops reads this afterwards, so one of the two threads sees the other's flag. */
extern _Atomic bool sc_unaccounted_opens;

/* Called when the thread that asks NVML is about to start: calls are noted from now on. */
void sc_unaccounted_start(void);

/* Notes a call by which the driver may have taken memory for itself. One load if there is no such
 * thread. */
void sc_unaccounted_note(const struct sc_call *call, enum sc_memory_kind kind);

/* Asks NVML about each device on which the process holds memory. Called on the library's thread
 * alone. Returns true if it is worth asking again soon: a function was met lately whose first
 * launch may take memory. */
bool sc_unaccounted_look(void);

/* Stores in the statement what NVML's last answers say of memory that the driver has taken for
 * itself. */
void sc_unaccounted_fill(struct sc_statement *statement);

#endif
