/* Finds the source line of an instruction of CPython, from the line table of its code object.
 *
 * Pure. The table may be any bytes, complete or cut: if it has no valid entry, there is no line.
 * Safe everywhere, in a signal handler too. */

/* Terms (docs/glossary.md):
 *   code object: CPython's record of a compiled function
 */

#ifndef SC_TOOLS_PYTHON_LINES_H
#define SC_TOOLS_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

enum sc_python_format {
    SC_PYTHON_LNOTAB,    /* co_lnotab, to 3.9 */
    SC_PYTHON_LINETABLE, /* co_linetable of 3.10 (PEP 626) */
    SC_PYTHON_LOCATIONS, /* co_linetable from 3.11 on (PEP 657) */
};

struct sc_python_lines {
    enum sc_python_format format;
    int32_t first_line;
    const uint8_t *table;
    size_t table_bytes;
};

/* Returns the line of the instruction; 0: none. `offset`: in bytes from the first instruction. */
int32_t sc_python_lines_find(const struct sc_python_lines *lines, uint32_t offset);

#endif
