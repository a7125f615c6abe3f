#define _GNU_SOURCE 1
#include "report/command/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>

struct sc_source_lines {
    Dwfl *session;
    Dwfl_Module *module;
    GElf_Addr bias;
};

struct sc_source_lines *sc_source_lines_open(const char *path)
{
    static const Dwfl_Callbacks callbacks = {
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    struct sc_source_lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return NULL;
    lines->session = dwfl_begin(&callbacks);
    if (lines->session) {
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
    free(lines);
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

/* Names the functions that are inlined, and adds where each was called. */
static size_t add_inlined(Dwarf_Die *unit, Dwarf_Die *scopes, int scope_count,
                          struct sc_source_place *places)
{
    size_t count = 1;
    for (int i = 0; i < scope_count && count < SC_SOURCE_PLACES_MAX; i++) {
        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        const char *name = string_of(&scopes[i], DW_AT_linkage_name);
        name = name ? name : dwarf_diename(&scopes[i]);
        places[count - 1].function = name ? name : "?";
        places[count++] = (struct sc_source_place){
            .file = call_file(unit, &scopes[i]),
            .folder = places[0].folder,
            .line = (int)number_of(&scopes[i], DW_AT_call_line),
        };
    }
    return count;
}

/* The scopes at an address go from an inlined function to where its source stands; those of its
 * own entry go to where it was called. */
static size_t find_inlined(Dwarf_Die *unit, uint64_t address, struct sc_source_place *places)
{
    Dwarf_Die *at = NULL, *of = NULL;
    size_t count = 1;
    if (dwarf_getscopes(unit, address, &at) > 0) {
        int scope_count = dwarf_getscopes_die(&at[0], &of);
        count = add_inlined(unit, of, scope_count, places);
    }
    free(at);
    free(of);
    return count;
}

size_t sc_source_lines_find(struct sc_source_lines *lines, uint64_t address,
                            struct sc_source_place *places)
{
    Dwarf_Addr bias = 0;
    Dwfl_Line *source = dwfl_module_getsrc(lines->module, lines->bias + address);
    Dwarf_Die *unit = dwfl_module_addrdie(lines->module, lines->bias + address, &bias);
    if (!source)
        return 0;
    places[0] = (struct sc_source_place){.folder = string_of(unit, DW_AT_comp_dir)};
    places[0].file = dwfl_lineinfo(source, NULL, &places[0].line, NULL, NULL, NULL);
    return unit ? find_inlined(unit, lines->bias + address - bias, places) : 1;
}
