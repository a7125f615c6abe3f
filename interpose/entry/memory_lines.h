/* A `memory` line in the report each time that memory_every has passed, by a thread of the
 * library's.
 *
 * The thread asks the driver what only that knows, and may be within it for as long as another
 * thread of the program's is. Thread-safe, not signal-safe; no lock of the library's may be held.
 */
#ifndef SC_INTERPOSE_ENTRY_MEMORY_LINES_H
#define SC_INTERPOSE_ENTRY_MEMORY_LINES_H

#include "ledger/statement.h"

/* The process uses CUDA: starts the thread where lines are asked for. */
void sc_memory_lines_start(void);

/* The process ends: there are no more lines. Waits for one that is being written, a tenth of a
 * second at most. */
void sc_memory_lines_stop(void);

/* What is held, to be given back; NULL: memory=off, or there is no memory for it. `asks` as in
 * sc_balance_draw. Needs: the driver is up. */
struct sc_statement *sc_memory_lines_draw(bool asks);
void sc_memory_lines_give_back(struct sc_statement *statement);

#endif
