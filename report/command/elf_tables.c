#define _GNU_SOURCE 1
#include "report/command/elf_tables.h"

#include <string.h>

/* Linkers make less of each; the largest libraries there are have three million symbols. */
enum { SECTIONS_MAX = 65536, SYMBOLS_MAX = 8 * 1024 * 1024 };

/* Returns the bytes of a section, or NULL if it has none. */
const void *sc_elf_tables_bytes(Elf_Scn *section, size_t *size)
{
    GElf_Shdr header;
    bool has_bytes = gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS;
    Elf_Data *data = has_bytes ? elf_rawdata(section, NULL) : NULL;
    *size = data && data->d_buf ? data->d_size : 0;
    return *size > 0 ? data->d_buf : NULL;
}

/* Returns a table of strings cut behind its last NUL, so that no string of a damaged file runs
 * past the end. */
struct sc_elf_strings sc_elf_tables_ended(const char *bytes, size_t size)
{
    const char *last = bytes ? memrchr(bytes, '\0', size) : NULL;
    return (struct sc_elf_strings){bytes, last ? (size_t)(last - bytes) + 1 : 0};
}

/* Returns the strings of a section. libelf's own elf_strptr looks for the NUL of each string from
 * the section's end on, which takes for ever in a section made for that. */
struct sc_elf_strings sc_elf_tables_strings(Elf *elf, size_t index)
{
    GElf_Shdr header;
    size_t size = 0;
    Elf_Scn *section = elf_getscn(elf, index);
    bool are_strings = section && gelf_getshdr(section, &header) && header.sh_type == SHT_STRTAB &&
                       !(header.sh_flags & SHF_COMPRESSED);
    const char *bytes = are_strings ? sc_elf_tables_bytes(section, &size) : NULL;
    return sc_elf_tables_ended(bytes, size);
}

/* Calls `take` for each section until it returns true. Returns what there is too much of, or
 * NULL. */
const char *sc_elf_tables_each_section(Elf *elf, sc_elf_tables_take_section *take, void *whom)
{
    size_t index = 0, count = 0;
    struct sc_elf_strings names = {0};
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf, &index) == 0)
        names = sc_elf_tables_strings(elf, index);
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (++count == SECTIONS_MAX)
            return "more than 65,536 sections";
        if (!gelf_getshdr(section, &header))
            continue;
        const char *name = sc_elf_tables_string(&names, header.sh_name);
        if (take(whom, section, &header, name ? name : ""))
            break;
    }
    return NULL;
}

struct sought {
    GElf_Word type;
    Elf_Scn *section; /* NULL: not found yet */
};

/* Is it a section of the sought type, uncompressed? It is kept, and ends the walk. */
static bool is_sought(void *whom, Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
    struct sought *sought = whom;
    (void)name;
    if (header->sh_type == sought->type && !(header->sh_flags & SHF_COMPRESSED))
        sought->section = section;
    return sought->section;
}

/* Calls `take` for each named symbol of the table of this type. Returns what there is too much of,
 * or NULL. */
const char *sc_elf_tables_each_symbol(Elf *elf, GElf_Word type, sc_elf_tables_take_symbol *take,
                                      void *whom)
{
    struct sought sought = {.type = type};
    GElf_Shdr header;
    GElf_Sym symbol;
    const char *excess = sc_elf_tables_each_section(elf, is_sought, &sought);
    if (!sought.section || !gelf_getshdr(sought.section, &header))
        return excess;
    struct sc_elf_strings names = sc_elf_tables_strings(elf, header.sh_link);
    size_t size = header.sh_entsize > 0 ? header.sh_entsize : 1;
    bool has_too_many = header.sh_size / size > SYMBOLS_MAX;
    Elf_Data *data = elf_getdata(sought.section, NULL);
    for (int i = 0; data && i < SYMBOLS_MAX && gelf_getsym(data, i, &symbol); i++) {
        const char *name = sc_elf_tables_string(&names, symbol.st_name);
        if (name)
            take(whom, &symbol, name);
    }
    return has_too_many ? "more than 8,388,608 symbols" : excess;
}
