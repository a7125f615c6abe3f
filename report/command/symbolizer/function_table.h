/* The functions of a module by their addresses, from the symbol tables of its files. */
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
    char *name;       /* that was found last */
    bool is_sorted, told_of_name;
};

/* Adds the functions in the symbol tables of `file`, which must stay open for as long as names are
 * asked for. `first_address`: the address, as the file numbers them, of the module's first byte in
 * memory. Says on stderr which bound is met. */
void sc_function_table_add(struct sc_function_table *table, const struct sc_elf_file *file,
                           uint64_t first_address);
void sc_function_table_free(struct sc_function_table *table);

/* The mangled name of the function that contains the byte `offset` behind the module's first one.
 * NULL: there is none. Valid until the next question. */
const char *sc_function_table_find(struct sc_function_table *table, uint64_t offset);

#endif
