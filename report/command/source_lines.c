#define _GNU_SOURCE 1
#include "report/command/source_lines.h"

#include "report/command/debuginfod.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Addresses of a unit, as its DWARF numbers them. */
struct range {
    Dwarf_Addr start, end;
    Dwarf_Die *unit;
};

struct sc_source_lines {
    Dwfl *session;
    Dwfl_Module *module;
    GElf_Addr bias;
    struct range *ranges; /* of all units, once an address is asked for that the table of addresses
                           * lacks: clang writes none */
    size_t range_count;
    bool has_ranges;
};

static bool is_of(Dwfl_Module *module, int fd)
{
    const unsigned char *wanted;
    const void *found;
    GElf_Addr address;
    int length = dwfl_module_build_id(module, &wanted, &address);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool is_same = length <= 0 || (dwelf_elf_gnu_build_id(elf, &found) == length &&
                                   memcmp(found, wanted, (size_t)length) == 0);
    elf_end(elf);
    return is_same;
}

/* libdw believes what a server of debuginfod gives it. */
static int find_debug_file(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr base,
                           const char *path, const char *link, GElf_Word crc, char **found_path)
{
    int fd =
        dwfl_standard_find_debuginfo(module, user_data, name, base, path, link, crc, found_path);
    if (fd < 0 || is_of(module, fd))
        return fd;
    close(fd);
    return -1;
}

struct sc_source_lines *sc_source_lines_open(const char *path, char *folders)
{
    static char *searched;
    static const Dwfl_Callbacks callbacks = {
        .find_debuginfo = find_debug_file,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &searched,
    };
    struct sc_source_lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return NULL;
    searched = folders;
    lines->session = dwfl_begin(&callbacks);
    if (lines->session) {
        sc_debuginfod_watch(lines->session);
        lines->module = dwfl_report_offline(lines->session, "", path, -1);
        dwfl_report_end(lines->session, NULL, NULL);
    }
    if (lines->module && dwfl_module_getelf(lines->module, &lines->bias))
        return lines;
    sc_source_lines_close(lines);
    return NULL;
}

void sc_source_lines_close(struct sc_source_lines *lines)
{
    if (lines && lines->session)
        dwfl_end(lines->session);
    if (lines)
        free(lines->ranges);
    free(lines);
}

Elf *sc_source_lines_debug_file(struct sc_source_lines *lines)
{
    Dwarf_Addr bias;
    Dwarf *dwarf = dwfl_module_getdwarf(lines->module, &bias);
    Elf *file = dwarf ? dwarf_getelf(dwarf) : NULL;
    return file == dwfl_module_getelf(lines->module, &bias) ? NULL : file;
}

static const char *string_of(Dwarf_Die *die, unsigned code)
{
    Dwarf_Attribute attribute;
    return die && dwarf_attr_integrate(die, code, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned code)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (!dwarf_attr_integrate(die, code, &attribute) || dwarf_formudata(&attribute, &number) != 0)
        return 0;
    return number;
}

static const char *call_file(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Files *files = NULL;
    size_t count = 0, index = number_of(inlined, DW_AT_call_file);
    if (dwarf_getsrcfiles(unit, &files, &count) != 0 || index >= count)
        return NULL;
    return dwarf_filesrc(files, index, NULL, NULL);
}

/* With -gsplit-dwarf the functions of a unit are in a file of their own. */
static Dwarf_Die whole_unit(Dwarf_Die *unit)
{
    Dwarf_Die split;
    uint8_t type;
    bool is_split = dwarf_cu_info(unit->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
                    type == DW_UT_skeleton && split.addr;
    return is_split ? split : *unit;
}

/* Finds what holds the address and is directly in `scope`, or in a namespace there. */
static bool find_inner(Dwarf_Die *scope, Dwarf_Addr address, Dwarf_Die *inner)
{
    Dwarf_Die child;
    int result = dwarf_child(scope, &child);
    for (; result == 0; result = dwarf_siblingof(&child, &child)) {
        *inner = child;
        if (dwarf_haspc(&child, address) > 0 ||
            (dwarf_tag(&child) == DW_TAG_namespace && find_inner(&child, address, inner)))
            return true;
    }
    return false;
}

/* The functions that are inlined at the address, the outermost first. dwarf_getscopes does not find
 * one whose source is of another unit, as with -flto. */
static int find_inlined(Dwarf_Die scope, Dwarf_Addr address, Dwarf_Die *inlined)
{
    int count = 0;
    Dwarf_Die inner;
    while (count < SC_SOURCE_PLACES_MAX - 1 && find_inner(&scope, address, &inner)) {
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

static void read_ranges(struct sc_source_lines *lines)
{
    Dwarf_Addr bias, base;
    struct range range = {.unit = NULL};
    while ((range.unit = dwfl_module_nextcu(lines->module, range.unit, &bias)) != NULL) {
        ptrdiff_t at = 0;
        while ((at = dwarf_ranges(range.unit, at, &base, &range.start, &range.end)) > 0)
            if (!add_range(lines, range))
                return;
    }
}

static Dwarf_Die *unit_in_ranges(struct sc_source_lines *lines, Dwarf_Addr address)
{
    if (!lines->has_ranges)
        read_ranges(lines);
    lines->has_ranges = true;
    for (size_t i = 0; i < lines->range_count; i++)
        if (address >= lines->ranges[i].start && address < lines->ranges[i].end)
            return lines->ranges[i].unit;
    return NULL;
}

/* Makes `address` what the unit's DWARF takes it for. */
static Dwarf_Die *unit_of(struct sc_source_lines *lines, Dwarf_Addr *address)
{
    Dwarf_Addr bias;
    if (!dwfl_module_getdwarf(lines->module, &bias))
        return NULL;
    *address += lines->bias;
    Dwarf_Die *unit = dwfl_module_addrdie(lines->module, *address, &bias);
    *address -= bias;
    return unit ? unit : unit_in_ranges(lines, *address);
}

size_t sc_source_lines_find(struct sc_source_lines *lines, uint64_t address,
                            struct sc_source_place *places)
{
    Dwarf_Die *unit = unit_of(lines, &address);
    Dwarf_Line *line = unit ? dwarf_getsrc_die(unit, address) : NULL;
    if (!line)
        return 0;
    places[0] = (struct sc_source_place){
        .folder = string_of(unit, DW_AT_comp_dir),
        .file = dwarf_linesrc(line, NULL, NULL),
    };
    dwarf_lineno(line, &places[0].line);
    return add_inlined(unit, address, places);
}
