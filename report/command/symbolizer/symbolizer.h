/* Reads the files of one module in a process of its own, which is asked for the names of
 * addresses.
 *
 * The files may be damaged, or made to cost their reader memory and time. That can only end the
 * process which reads them, by a signal or because it exceeds a bound; the command goes on.
 *
 * | bound | of |
 * | --- | --- |
 * | 256 MB | memory; pages of the files themselves are none |
 * | 8 s | processor time, and 20 ms more for each address |
 * | 9 s | time in which nothing happens; servers of debug files have a time of their own | */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_SYMBOLIZER_H
#define SC_REPORT_COMMAND_SYMBOLIZER_SYMBOLIZER_H

#include "report/command/symbolizer/debug_files.h"
#include "report/command/symbolizer/symbol_answer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_symbolizer;

/* Makes the memory that all such processes share with the command (symbolizer_child.h). NULL: no
 * memory. */
struct sc_symbolizer_notes *sc_symbolizer_notes_new(void);
void sc_symbolizer_notes_free(struct sc_symbolizer_notes *notes);

/* Starts the process, which gets a copy of all that `sought` names. NULL, with errno: it could not
 * be started. */
struct sc_symbolizer *sc_symbolizer_start(const struct sc_module_sought *sought,
                                          struct sc_symbolizer_notes *notes);
void sc_symbolizer_end(struct sc_symbolizer *symbolizer);
bool sc_symbolizer_has_ended(const struct sc_symbolizer *symbolizer);

enum sc_symbolizer_outcome {
    SC_SYMBOLIZER_ANSWERED,
    SC_SYMBOLIZER_KNOWS_NOTHING, /* no file of the module names any address */
    SC_SYMBOLIZER_LOST_LINES,    /* the process has ended while it looked for source lines */
    SC_SYMBOLIZER_LOST,          /* it has ended while it looked for the name */
};

/* Asks for the function, and with `with_lines` the places in the source, of the byte before each
 * address. Addresses count from the start of the module's mapping. Calls `take` with the bytes of
 * each answer (symbol_answer.h). The first address is answered unless the process ends; others may
 * be left out. If the process has ended, writes to stderr why. */
enum { SC_SYMBOLIZER_OFFSETS_MAX = 64 };
typedef void sc_symbolizer_take(void *whom, uint64_t offset, const char *bytes, size_t size);
enum sc_symbolizer_outcome sc_symbolizer_ask(struct sc_symbolizer *symbolizer,
                                             const uint64_t *offsets, size_t count, bool with_lines,
                                             sc_symbolizer_take *take, void *whom);

/* Returns the name for the first address, if it was found before the process ended. Valid until the
 * next question, or sc_symbolizer_end. */
const char *sc_symbolizer_name_alone(const struct sc_symbolizer *symbolizer);

/* Returns the cost of all questions: processor time, and time in which nothing happened. */
int64_t sc_symbolizer_cost_ns(const struct sc_symbolizer *symbolizer);

/* Returns how much memory the process had taken when it was last asked. */
uint64_t sc_symbolizer_taken_bytes(const struct sc_symbolizer *symbolizer);

#endif
