#include "common/python_lines.h"

#include <stdbool.h>

#include "common/poison.h"

/* Returns the line as a line number; 0, for "none", if a damaged table gives one that cannot
 * be. */
static int32_t line_of(int64_t line)
{
    return line > 0 && line <= INT32_MAX ? (int32_t)line : 0;
}

/* Finds the line in a table of CPython up to 3.9 (co_lnotab), of pairs: a number of bytes of code,
 * and the signed step of the line behind them. */
static int32_t find_in_lnotab(const struct sc_python_lines *lines, uint32_t offset)
{
    int64_t line = lines->first_line;
    uint64_t end = 0;
    for (size_t i = 0; i + 1 < lines->table_bytes; i += 2) {
        end += lines->table[i];
        if (end > offset)
            break;
        line += (int8_t)lines->table[i + 1];
    }
    return line_of(line);
}

/* Finds the line in a table of CPython 3.10 (co_linetable), of pairs: a number of bytes of code,
 * and the signed step to their line; -128: they have no line. */
static int32_t find_in_linetable(const struct sc_python_lines *lines, uint32_t offset)
{
    int64_t line = lines->first_line;
    uint64_t end = 0;
    for (size_t i = 0; i + 1 < lines->table_bytes; i += 2) {
        int8_t step = (int8_t)lines->table[i + 1];
        end += lines->table[i];
        if (step != INT8_MIN)
            line += step;
        if (end > offset)
            return step != INT8_MIN ? line_of(line) : 0;
    }
    return 0;
}

/* Reads a signed number of CPython's location table: six bits in each byte, the lowest bits first.
 * The lowest bit of all is the sign; bit 6 of a byte says that another byte follows. A damaged
 * table may go on for ever, so at most six bytes count. */
static int64_t read_step(const uint8_t *at, const uint8_t *end)
{
    uint64_t value = 0;
    for (unsigned shift = 0; at < end && shift < 36; shift += 6) {
        value |= (uint64_t)(*at & 63) << shift;
        if (!(*at++ & 64))
            break;
    }
    int64_t step = (int64_t)(value >> 1);
    return value & 1 ? -step : step;
}

/* Does the byte begin an entry of the location table? Bit 7 says so. */
static bool begins_entry(uint8_t byte)
{
    return (byte & 128) != 0;
}

/* Finds the line of an instruction in a code object's table since Python 3.11. Each entry begins
 * with a byte that has its kind and how many instructions of two bytes it covers. The kind says
 * how the step of the line is stored; columns are passed over. */
static int32_t find_in_locations(const struct sc_python_lines *lines, uint32_t offset)
{
    enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NO_LOCATION = 15 };
    const uint8_t *at = lines->table, *end = at + lines->table_bytes;
    int64_t line = lines->first_line;
    uint64_t passed = 0;
    while (at < end && begins_entry(*at)) {
        unsigned kind = *at >> 3 & 15;
        passed += 2 * ((*at++ & 7) + 1u);
        if (kind >= ONE_LINE && kind < NO_COLUMNS)
            line += kind - ONE_LINE;
        if (kind == NO_COLUMNS || kind == LONG)
            line += read_step(at, end);
        if (passed > offset)
            return kind != NO_LOCATION ? line_of(line) : 0;
        while (at < end && !begins_entry(*at))
            at++;
    }
    return 0;
}

/* Finds the source line of an offset in the code. The table's format depends on the version of
 * Python. */
int32_t sc_python_lines_find(const struct sc_python_lines *lines, uint32_t offset)
{
    switch (lines->format) {
    case SC_PYTHON_LNOTAB:
        return find_in_lnotab(lines, offset);
    case SC_PYTHON_LINETABLE:
        return find_in_linetable(lines, offset);
    case SC_PYTHON_LOCATIONS:
        return find_in_locations(lines, offset);
    }
    return 0;
}
