#define _GNU_SOURCE 1
#include "report/command/symbolizer/source_lines.h"

#include "report/command/say.h"
#include "report/command/symbolizer/elf_file.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As deep as anybody nests namespaces. */
enum { NAMESPACES_MAX = 64 };

/* Addresses of a unit, as its DWARF numbers them. */
struct range {
    Dwarf_Addr start, end;
    Dwarf_Off unit;
};

struct sc_source_lines {
    Dwarf *dwarf, *alternate;
    Elf *nothing;         /* what stands for an alternate file that is not there */
    const char *path;     /* of the file */
    char *real_path;      /* from which libdw looks for others */
    struct range *ranges; /* of all units, once an address is asked for that the table of addresses
                           * lacks: clang writes none */
    size_t range_count;
    bool has_ranges, told_of_split;
};

bool sc_source_lines_are_known(void)
{
    return true;
}

/* ---- opening ---- */

/* Ends the child when libdw has no memory. libdw itself would write to stderr and call exit. */
__attribute__((noreturn)) static void end_without_memory(void)
{
    _exit(1);
}

/* Begins to read DWARF from the ELF file; NULL: it has none. Without memory libdw would write to
 * stderr and call exit, so it gets a handler of ours, which only ends the child. */
static Dwarf *begin_dwarf(Elf *elf)
{
    Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
    if (dwarf)
        dwarf_new_oom_handler(dwarf, end_without_memory);
    return dwarf;
}

/* Makes an ELF file without compilation units. libdw gets it in place of a file that libdw would
 * otherwise open by itself. */
static Elf *make_nothing(void)
{
    static struct {
        ElfW(Ehdr) header;
        ElfW(Shdr) sections[3];
        char names[32], info[8];
    } file;
    static const char names[] = "\0.shstrtab\0.debug_info";
    file.header = (ElfW(Ehdr)){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
                    sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32,
                    __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof file.header,
        .e_shoff = (char *)file.sections - (char *)&file,
        .e_shentsize = sizeof file.sections[0],
        .e_shnum = 3,
        .e_shstrndx = 1,
    };
    memcpy(file.names, names, sizeof names);
    file.sections[1] = (ElfW(Shdr)){.sh_name = 1,
                                    .sh_type = SHT_STRTAB,
                                    .sh_offset = (size_t)(file.names - (char *)&file),
                                    .sh_size = sizeof names};
    file.sections[2] = (ElfW(Shdr)){.sh_name = 11,
                                    .sh_type = SHT_PROGBITS,
                                    .sh_offset = (size_t)(file.info - (char *)&file),
                                    .sh_size = 1};
    return elf_memory((char *)&file, sizeof file);
}

/* Gives libdw the file that several debug files share. Without one it opens whatever the file
 * names, and waits for it. */
static bool give_alternate(struct sc_source_lines *lines, Elf *alternate)
{
    lines->alternate = begin_dwarf(alternate);
    if (!lines->alternate) {
        lines->nothing = make_nothing();
        lines->alternate = begin_dwarf(lines->nothing);
    }
    if (lines->alternate)
        dwarf_setalt(lines->dwarf, lines->alternate);
    return lines->alternate;
}

/* Opens the lines of a debug file. NULL: it has none, or no memory. */
struct sc_source_lines *sc_source_lines_open(const char *path, Elf *elf, Elf *alternate)
{
    struct sc_source_lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return NULL;
    lines->path = path;
    lines->real_path = realpath(path, NULL) ?: strdup(path);
    lines->dwarf = begin_dwarf(elf);
    if (lines->real_path && lines->dwarf && give_alternate(lines, alternate))
        return lines;
    sc_source_lines_close(lines);
    return NULL;
}

void sc_source_lines_close(struct sc_source_lines *lines)
{
    if (!lines)
        return;
    dwarf_end(lines->dwarf);
    dwarf_end(lines->alternate);
    elf_end(lines->nothing);
    free(lines->real_path);
    free(lines->ranges);
    free(lines);
}

/* ---- attributes ---- */

/* Returns a string of the DWARF entry, or of the one it stands for; NULL: none. */
static const char *string_of(Dwarf_Die *die, unsigned code)
{
    Dwarf_Attribute attribute;
    return die && dwarf_attr_integrate(die, code, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

/* Returns a number that debug information has of a function, or 0 if there is none. */
static Dwarf_Word number_of(Dwarf_Die *die, unsigned code)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (!dwarf_attr_integrate(die, code, &attribute) || dwarf_formudata(&attribute, &number) != 0)
        return 0;
    return number;
}

/* Returns the file in which an inlined function was called. */
static const char *call_file(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Files *files = NULL;
    size_t count = 0, index = number_of(inlined, DW_AT_call_file);
    if (dwarf_getsrcfiles(unit, &files, &count) != 0 || index >= count)
        return NULL;
    return dwarf_filesrc(files, index, NULL, NULL);
}

/* ---- units ---- */

/* Returns the name of the file that has the rest of the unit's DWARF (-gsplit-dwarf), by the
 * standard's or GNU's attribute. */
static const char *name_of_split(Dwarf_Die *unit)
{
    const char *name = string_of(unit, DW_AT_dwo_name);
    return name ? name : string_of(unit, DW_AT_GNU_dwo_name);
}

/* May libdw open this path? It is made as libdw makes it: an absolute part replaces those before
 * it. */
static bool may_be_opened(const char *folder, const char *below, const char *name)
{
    char path[PATH_MAX];
    const char *last = strrchr(folder, '/');
    int length = (int)(last - folder) + 1;
    if (name[0] == '/' || below[0] == '/')
        length = 0;
    if (name[0] == '/')
        below = "";
    int size = snprintf(path, sizeof path, "%.*s%s%s%s", length, folder, below,
                        below[0] != '\0' ? "/" : "", name);
    return size >= 0 && size < (int)sizeof path && sc_elf_file_may_be_opened(path);
}

/* May libdw open the files that the unit names for its split DWARF (-gsplit-dwarf)? libdw opens
 * them without checks, so a FIFO would block it. If not, says so once. */
static bool has_harmless_split(struct sc_source_lines *lines, Dwarf_Die *unit)
{
    char package[PATH_MAX];
    const char *name = name_of_split(unit), *folder = string_of(unit, DW_AT_comp_dir);
    if (!name)
        return true;
    int size = snprintf(package, sizeof package, "%s.dwp", lines->real_path);
    if (size < (int)sizeof package && sc_elf_file_may_be_opened(package) &&
        may_be_opened(lines->real_path, "", name) &&
        (!folder || may_be_opened(lines->real_path, folder, name)))
        return true;
    if (!lines->told_of_split)
        sc_say("%s names %s, which is no regular file, or the kernel's; its lines are not shown",
               lines->path, name);
    lines->told_of_split = true;
    return false;
}

/* Returns the unit that has the functions: with -gsplit-dwarf they are in a file of their own. */
static Dwarf_Die whole_unit(Dwarf_Die *unit)
{
    Dwarf_Die split;
    uint8_t type;
    bool is_split = dwarf_cu_info(unit->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
                    type == DW_UT_skeleton && split.addr;
    return is_split ? split : *unit;
}

/* Adds a range of addresses of a unit. False: no memory. */
static bool add_range(struct sc_source_lines *lines, struct range range)
{
    size_t count = lines->range_count;
    if ((count & (count - 1)) == 0) { /* there is room for a power of two */
        void *grown = realloc(lines->ranges, (count > 0 ? 2 * count : 1) * sizeof range);
        if (!grown)
            return false;
        lines->ranges = grown;
    }
    lines->ranges[lines->range_count++] = range;
    return true;
}

/* Adds the addresses that belong to one unit. Returns false if memory runs out. */
static bool add_ranges(struct sc_source_lines *lines, Dwarf_Die *unit)
{
    struct range range = {.unit = dwarf_dieoffset(unit)};
    Dwarf_Addr base;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(unit, at, &base, &range.start, &range.end)) > 0)
        if (!add_range(lines, range))
            return false;
    return true;
}

/* Collects the addresses of all units, for files that have no index of them. */
static void read_ranges(struct sc_source_lines *lines)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (dwarf_get_units(lines->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        if (has_harmless_split(lines, &die) && !add_ranges(lines, &die))
            return;
}

/* Finds the unit of the address by the units' own ranges, which are read once: for files that have
 * no index of addresses. */
static bool find_in_ranges(struct sc_source_lines *lines, Dwarf_Addr address, Dwarf_Die *unit)
{
    if (!lines->has_ranges)
        read_ranges(lines);
    lines->has_ranges = true;
    for (size_t i = 0; i < lines->range_count; i++)
        if (address >= lines->ranges[i].start && address < lines->ranges[i].end)
            return dwarf_offdie(lines->dwarf, lines->ranges[i].unit, unit);
    return false;
}

/* Finds the compilation unit that has the address, by the index or else by all ranges. */
static bool find_unit(struct sc_source_lines *lines, Dwarf_Addr address, Dwarf_Die *unit)
{
    return (dwarf_addrdie(lines->dwarf, address, unit) || find_in_ranges(lines, address, unit)) &&
           has_harmless_split(lines, unit);
}

/* ---- inlined functions ---- */

/* Finds what holds the address and is directly in `scope`, or in a namespace there. In a damaged
 * file the next sibling may be one before. */
static bool find_inner(Dwarf_Die *scope, Dwarf_Addr address, Dwarf_Die *inner, int depth)
{
    Dwarf_Die child;
    Dwarf_Off last = dwarf_dieoffset(scope);
    int result = dwarf_child(scope, &child);
    for (; result == 0; result = dwarf_siblingof(&child, &child)) {
        if (dwarf_dieoffset(&child) <= last)
            return false;
        last = dwarf_dieoffset(&child);
        *inner = child;
        if (dwarf_haspc(&child, address) > 0 ||
            (dwarf_tag(&child) == DW_TAG_namespace && depth < NAMESPACES_MAX &&
             find_inner(&child, address, inner, depth + 1)))
            return true;
    }
    return false;
}

/* Returns the functions that are inlined at the address, the outermost first. dwarf_getscopes does
 * not find one whose source is of another unit, as with -flto. */
static int find_inlined(Dwarf_Die scope, Dwarf_Addr address, Dwarf_Die *inlined)
{
    int count = 0;
    Dwarf_Die inner;
    while (count < SC_SOURCE_PLACES_MAX - 1 && find_inner(&scope, address, &inner, 0)) {
        if (dwarf_tag(&inner) == DW_TAG_inlined_subroutine)
            inlined[count++] = inner;
        scope = inner;
    }
    return count;
}

/* Names the functions that are inlined, and adds where each was called. */
static size_t add_inlined(Dwarf_Die *unit, Dwarf_Addr address, struct sc_source_place *places)
{
    Dwarf_Die inlined[SC_SOURCE_PLACES_MAX], whole = whole_unit(unit);
    size_t count = 1;
    for (int i = find_inlined(whole, address, inlined); i > 0; i--) {
        const char *name = string_of(&inlined[i - 1], DW_AT_linkage_name);
        name = name ? name : dwarf_diename(&inlined[i - 1]);
        places[count - 1].function = name ? name : "?";
        places[count++] = (struct sc_source_place){
            .file = call_file(&whole, &inlined[i - 1]),
            .folder = places[0].folder,
            .line = (int)number_of(&inlined[i - 1], DW_AT_call_line),
        };
    }
    return count;
}

/* ---- the whole ---- */

/* Returns the places in the source of an address, innermost first. Returns 0 if it is unknown. */
size_t sc_source_lines_find(struct sc_source_lines *lines, uint64_t address,
                            struct sc_source_place *places)
{
    Dwarf_Die unit;
    bool is_found = find_unit(lines, address, &unit);
    Dwarf_Line *line = is_found ? dwarf_getsrc_die(&unit, address) : NULL;
    if (!line)
        return 0;
    places[0] = (struct sc_source_place){
        .folder = string_of(&unit, DW_AT_comp_dir),
        .file = dwarf_linesrc(line, NULL, NULL),
    };
    dwarf_lineno(line, &places[0].line);
    return add_inlined(&unit, address, places);
}
