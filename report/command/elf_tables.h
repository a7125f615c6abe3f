/* Reads tables of an ELF file that may be damaged, or made to cost its reader memory and time.
 *
 * Linkers make one table of each kind, so only one is read. What it has too much of is left out:
 * then the function that meets the bound returns words for it ("more than 65,536 sections"), else
 * NULL. */
#ifndef SC_REPORT_COMMAND_ELF_TABLES_H
#define SC_REPORT_COMMAND_ELF_TABLES_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

/* A section of strings, as it lies in the file, up to its last NUL. */
struct sc_elf_strings {
    const char *bytes;
    size_t size; /* 0: there are none */
};

/* The strings that end within these bytes. */
struct sc_elf_strings sc_elf_tables_ended(const char *bytes, size_t size);

/* The strings of section `index`. A compressed section has none. */
struct sc_elf_strings sc_elf_tables_strings(Elf *elf, size_t index);

/* The string that begins at `at` in the section; NULL: that lies outside. */
static inline const char *sc_elf_tables_string(const struct sc_elf_strings *strings, size_t at)
{
    return at < strings->size ? strings->bytes + at : NULL;
}

/* Calls `take` for each section with its name ("" if it has none), until `take` returns true. */
typedef bool sc_elf_tables_take_section(void *whom, Elf_Scn *section, const GElf_Shdr *header,
                                        const char *name);
const char *sc_elf_tables_each_section(Elf *elf, sc_elf_tables_take_section *take, void *whom);

/* The section's bytes in the file, and their number; NULL: it has none there. */
const void *sc_elf_tables_bytes(Elf_Scn *section, size_t *size);

/* Hands each symbol of the table of type `type` (SHT_SYMTAB, SHT_DYNSYM) to `take`. `name` is part
 * of the file, and lives as long as `elf`. */
typedef void sc_elf_tables_take_symbol(void *whom, const GElf_Sym *symbol, const char *name);
const char *sc_elf_tables_each_symbol(Elf *elf, GElf_Word type, sc_elf_tables_take_symbol *take,
                                      void *whom);

#endif
