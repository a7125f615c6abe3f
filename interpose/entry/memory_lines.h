/* Writes a `memory` line into the report each time that memory_every has passed, or the signal
 * memory_signal comes, on a thread of the library's.
 *
 * That thread asks the driver what only the driver knows, so it may wait in the driver for as long
 * as another thread of the program does. Thread-safe, not signal-safe; no lock of the library's may
 * be held. */

/* Terms (docs/glossary.md):
 *   held: of memory: freed by the program, and kept by the library until the device is done
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   ledger: which memory the process has, and which call stack asked for it
 */

#ifndef SC_INTERPOSE_ENTRY_MEMORY_LINES_H
#define SC_INTERPOSE_ENTRY_MEMORY_LINES_H

#include <stdbool.h>

#include "ledger/statement.h"

/* Starts the thread if the options ask for such lines. Called when the process begins to use CUDA.
 */
void sc_memory_lines_start(void);

/* Stops writing lines, as the process ends. Waits for a line that is being written: 0.5 s at most,
 * or 10 s while the thread loads NVML. */
void sc_memory_lines_stop(void);

/* Returns true if the calling thread may call the driver: false if it was interrupted within the
 * driver, or runs a host function. */
bool sc_memory_lines_may_ask(void);

/* Makes a statement of the memory that the process has (ledger/statement.h); NULL: memory=off, or
 * there is no memory for it. `asks`: the driver may be asked, if sc_memory_lines_may_ask. Pre: the
 * driver is initialised. The caller frees it with sc_memory_lines_free. */
struct sc_statement *sc_memory_lines_draw(bool asks);

/* Frees the statement. NULL does nothing. */
void sc_memory_lines_free(struct sc_statement *statement);

#endif
