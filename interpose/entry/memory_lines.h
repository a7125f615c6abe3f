/* Writes a `memory` line into the report each time that memory_every has passed, or memory_signal
 * comes, on a thread of the library's.
 *
 * The thread asks the driver what only that knows, and may be within the driver as long as another
 * thread of the program's is. Thread-safe, not signal-safe; no lock of the library's may be held.
 */
#ifndef SC_INTERPOSE_ENTRY_MEMORY_LINES_H
#define SC_INTERPOSE_ENTRY_MEMORY_LINES_H

#include <stdbool.h>

#include "ledger/statement.h"

/* Called when the process begins to use CUDA: starts the thread, if the options ask for lines. */
void sc_memory_lines_start(void);

/* The process ends: writes no more lines. Waits for one that is being written, 0.5 s at most, or 10
 * s while the thread loads NVML. */
void sc_memory_lines_stop(void);

/* May the calling thread ask the driver? Not where it was interrupted there, or runs a host
 * function. */
bool sc_memory_lines_may_ask(void);

/* Draws a statement of the memory that is held; NULL: memory=off, or there is no memory for it.
 * `asks` as in sc_balance_draw. Needs: the driver is up. */
struct sc_statement *sc_memory_lines_draw(bool asks);

/* Gives the statement back. NULL does nothing. */
void sc_memory_lines_free(struct sc_statement *statement);

#endif
