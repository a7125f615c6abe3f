/* Reads tables of an ELF file that may be damaged, or made to cost its reader memory and time.
 *
 * Linkers make one table of each kind, so only one is read. What exceeds a bound is left out: then
 * the function returns words for the bound ("more than 65,536 sections"), else NULL. */
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

/* Returns the strings that end within these bytes. */
struct sc_elf_strings sc_elf_tables_ended(const char *bytes, size_t size);

/* Returns the strings of section `index`; none if the section is compressed. */
struct sc_elf_strings sc_elf_tables_strings(Elf *elf, size_t index);

/* Returns the string that begins at `at` in the section; NULL: that is outside of it. */
static inline const char *sc_elf_tables_string(const struct sc_elf_strings *strings, size_t at)
{
    return at < strings->size ? strings->bytes + at : NULL;
}

/* Calls `take` for each section with its name ("" if it has none), until `take` returns true. */
typedef bool sc_elf_tables_take_section(void *whom, Elf_Scn *section, const GElf_Shdr *header,
                                        const char *name);
const char *sc_elf_tables_each_section(Elf *elf, sc_elf_tables_take_section *take, void *whom);

/* Returns the section's bytes in the file, and their number; NULL: it has none there. */
const void *sc_elf_tables_bytes(Elf_Scn *section, size_t *size);

/* Calls `take` with each symbol of the table of type `type` (SHT_SYMTAB, SHT_DYNSYM). `name` is
 * part of the file, and lives as long as `elf`. */
typedef void sc_elf_tables_take_symbol(void *whom, const GElf_Sym *symbol, const char *name);
const char *sc_elf_tables_each_symbol(Elf *elf, GElf_Word type, sc_elf_tables_take_symbol *take,
                                      void *whom);

#endif
