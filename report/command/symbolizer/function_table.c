#define _GNU_SOURCE 1
#include "report/command/symbolizer/function_table.h"

#include "report/command/elf_tables.h"
#include "report/command/say.h"
#include "report/command/symbolizer/symbol_answer.h"

#include <stdlib.h>
#include <string.h>

struct sc_function {
    uint64_t start, end; /* behind the first byte of the module */
    const char *name;    /* in the file */
};

struct adding {
    struct sc_function_table *table;
    uint64_t first_address;
};

/* Makes room for one more function. False: no memory. */
static bool make_room(struct sc_function_table *table)
{
    if (table->count < table->capacity)
        return true;
    size_t capacity = table->capacity == 0 ? 256 : 2 * table->capacity;
    void *grown = realloc(table->functions, capacity * sizeof *table->functions);
    if (!grown)
        return false;
    table->functions = grown;
    table->capacity = capacity;
    return true;
}

/* Adds a function's name and its place in the file. */
static void add_symbol(void *whom, const GElf_Sym *symbol, const char *name)
{
    struct adding *adding = whom;
    struct sc_function_table *table = adding->table;
    int type = GELF_ST_TYPE(symbol->st_info);
    bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if (!is_function || symbol->st_shndx == SHN_UNDEF || name[0] == '\0' || name[0] == '@' ||
        symbol->st_value < adding->first_address || !make_room(table))
        return;
    uint64_t start = symbol->st_value - adding->first_address, end;
    if (__builtin_add_overflow(start, symbol->st_size > 0 ? symbol->st_size : 1, &end))
        end = UINT64_MAX;
    table->functions[table->count++] = (struct sc_function){start, end, name};
}

/* Adds all functions of a file, by their offsets from where it is loaded. */
void sc_function_table_add(struct sc_function_table *table, const struct sc_elf_file *file,
                           uint64_t first_address)
{
    static const GElf_Word types[] = {SHT_SYMTAB, SHT_DYNSYM};
    struct adding adding = {table, first_address};
    table->is_sorted = false;
    table->path = file->path;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const char *excess = sc_elf_tables_each_symbol(file->elf, types[i], add_symbol, &adding);
        if (excess)
            sc_say("%s has %s; the rest is not read", file->path, excess);
    }
}

void sc_function_table_free(struct sc_function_table *table)
{
    free(table->functions);
    free(table->name);
    *table = (struct sc_function_table){0};
}

static int by_start(const void *a, const void *b)
{
    const struct sc_function *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

/* Finds the function that holds the offset. Several may: aliases start at one address, and a longer
 * function may hold a shorter one. The last that starts at or before the offset is taken, as the
 * closest. */
static const struct sc_function *find(const struct sc_function_table *table, uint64_t offset)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->functions[middle].start <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t tries = 0; low > 0 && tries < 16; low--, tries++)
        if (offset < table->functions[low - 1].end)
            return &table->functions[low - 1];
    return NULL;
}

/* Keeps a function's name without its version: the linker writes "name@@VERSION". */
static const char *keep_name(struct sc_function_table *table, const char *name)
{
    size_t length = strnlen(name, SC_SYMBOL_NAME_MAX);
    const char *version = memchr(name, '@', length);
    if (length == SC_SYMBOL_NAME_MAX && !table->told_of_name)
        sc_say("a function of %s has a name of more than 64 KB, which is not shown", table->path);
    table->told_of_name = table->told_of_name || length == SC_SYMBOL_NAME_MAX;
    free(table->name);
    table->name = length < SC_SYMBOL_NAME_MAX
                      ? strndup(name, version ? (size_t)(version - name) : length)
                      : NULL;
    return table->name;
}

/* Returns the name of the function that a return address at the offset belongs to, or NULL if none
 * is known. */
const char *sc_function_table_find(struct sc_function_table *table, uint64_t offset)
{
    if (!table->is_sorted && table->count > 0)
        qsort(table->functions, table->count, sizeof *table->functions, by_start);
    table->is_sorted = true;
    const struct sc_function *function = find(table, offset);
    return function ? keep_name(table, function->name) : NULL;
}
