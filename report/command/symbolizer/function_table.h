/* Finds the functions of a module by their addresses, in the symbol tables of its files. */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_FUNCTION_TABLE_H
#define SC_REPORT_COMMAND_SYMBOLIZER_FUNCTION_TABLE_H

#include "report/command/symbolizer/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is empty. */
struct sc_function_table {
    struct sc_function *functions;
    size_t count, capacity;
    const char *path; /* of the file that was added last */
    char *name;       /* the name that was found last */
    bool is_sorted, told_of_name;
};

/* Adds the functions in the symbol tables of `file`, which must stay open until the last
 * sc_function_table_find. `first_address`: the address, as the file numbers them, of the module's
 * first byte in memory. Writes to stderr which bound was exceeded, if one was. */
void sc_function_table_add(struct sc_function_table *table, const struct sc_elf_file *file,
                           uint64_t first_address);
void sc_function_table_free(struct sc_function_table *table);

/* Returns the mangled name of the function that contains the module's byte with this offset, valid
 * until the next call. NULL: there is none. */
const char *sc_function_table_find(struct sc_function_table *table, uint64_t offset);

#endif
