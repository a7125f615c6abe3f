#define _GNU_SOURCE 1
#include "report/command/source_lines.h"

#include "report/command/say.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* As elfutils/libdwfl.h, libdw.h and dwarf.h have it; the headers are not needed to build. */
struct callbacks {
    void *find_elf;
    void *find_debuginfo;
    void *section_address;
    char **debuginfo_path;
};

struct die {
    void *address, *unit, *abbreviation;
    long padding;
};

struct attribute {
    unsigned code, form;
    void *value, *unit;
};

enum {
    TAG_INLINED = 0x1d,
    ATTRIBUTE_FOLDER = 0x1b,
    ATTRIBUTE_CALL_FILE = 0x58,
    ATTRIBUTE_CALL_LINE = 0x59,
    ATTRIBUTE_LINKAGE_NAME = 0x6e,
};

static struct {
    bool tried, ready;
    void *(*begin)(const struct callbacks *);
    void *(*report_offline)(void *, const char *, const char *, int);
    int (*report_end)(void *, void *, void *);
    void (*end)(void *);
    void *(*get_elf)(void *, uint64_t *);
    void *(*get_source)(void *, uint64_t);
    const char *(*line_info)(void *, uint64_t *, int *, int *, uint64_t *, uint64_t *);
    struct die *(*unit_of)(void *, uint64_t, uint64_t *);
    int (*scopes_at)(struct die *, uint64_t, struct die **);
    int (*scopes_of)(struct die *, struct die **);
    int (*tag)(struct die *);
    const char *(*name)(struct die *);
    struct attribute *(*find_attribute)(struct die *, unsigned, struct attribute *);
    int (*number)(struct attribute *, uint64_t *);
    const char *(*string)(struct attribute *);
    int (*files)(struct die *, void **, size_t *);
    const char *(*file_name)(void *, size_t, uint64_t *, uint64_t *);
    struct callbacks callbacks;
} dw;

struct sc_source_lines {
    void *session;
    void *module;
    uint64_t bias;
};

static bool find_all(void *library)
{
    const struct {
        const char *name;
        void *slot;
    } wanted[] = {
        {"dwfl_begin", &dw.begin},
        {"dwfl_report_offline", &dw.report_offline},
        {"dwfl_report_end", &dw.report_end},
        {"dwfl_end", &dw.end},
        {"dwfl_module_getelf", &dw.get_elf},
        {"dwfl_module_getsrc", &dw.get_source},
        {"dwfl_lineinfo", &dw.line_info},
        {"dwfl_module_addrdie", &dw.unit_of},
        {"dwarf_getscopes", &dw.scopes_at},
        {"dwarf_getscopes_die", &dw.scopes_of},
        {"dwarf_tag", &dw.tag},
        {"dwarf_diename", &dw.name},
        {"dwarf_attr_integrate", &dw.find_attribute},
        {"dwarf_formudata", &dw.number},
        {"dwarf_formstring", &dw.string},
        {"dwarf_getsrcfiles", &dw.files},
        {"dwarf_filesrc", &dw.file_name},
        {"dwfl_standard_find_debuginfo", &dw.callbacks.find_debuginfo},
        {"dwfl_offline_section_address", &dw.callbacks.section_address},
    };
    bool found = true;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *symbol = dlsym(library, wanted[i].name);
        memcpy(wanted[i].slot, &symbol, sizeof symbol);
        found = found && symbol;
    }
    return found;
}

static void load_library(void)
{
    void *library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
    dw.tried = true;
    dw.ready = library && find_all(library);
    if (!dw.ready)
        sc_say("source lines are not shown: libdw.so.1 is missing (Debian's package is libdw1)");
}

struct sc_source_lines *sc_source_lines_open(const char *path)
{
    if (!dw.tried)
        load_library();
    struct sc_source_lines *lines = dw.ready ? calloc(1, sizeof *lines) : NULL;
    if (!lines)
        return NULL;
    lines->session = dw.begin(&dw.callbacks);
    if (lines->session) {
        lines->module = dw.report_offline(lines->session, "", path, -1);
        dw.report_end(lines->session, NULL, NULL);
    }
    if (lines->module && dw.get_elf(lines->module, &lines->bias))
        return lines;
    sc_source_lines_close(lines);
    return NULL;
}

void sc_source_lines_close(struct sc_source_lines *lines)
{
    if (lines && lines->session)
        dw.end(lines->session);
    free(lines);
}

static const char *string_of(struct die *die, unsigned code)
{
    struct attribute attribute;
    return die && dw.find_attribute(die, code, &attribute) ? dw.string(&attribute) : NULL;
}

static uint64_t number_of(struct die *die, unsigned code)
{
    struct attribute attribute;
    uint64_t number = 0;
    if (!dw.find_attribute(die, code, &attribute) || dw.number(&attribute, &number) != 0)
        return 0;
    return number;
}

static const char *call_file(struct die *unit, struct die *inlined)
{
    void *files = NULL;
    size_t count = 0, index = number_of(inlined, ATTRIBUTE_CALL_FILE);
    if (dw.files(unit, &files, &count) != 0 || index >= count)
        return NULL;
    return dw.file_name(files, index, NULL, NULL);
}

/* Names the functions that are inlined, and adds where each was called. */
static size_t add_inlined(struct die *unit, struct die *scopes, int scope_count,
                          struct sc_source_place *places)
{
    size_t count = 1;
    for (int i = 0; i < scope_count && count < SC_SOURCE_PLACES_MAX; i++) {
        if (dw.tag(&scopes[i]) != TAG_INLINED)
            continue;
        const char *name = string_of(&scopes[i], ATTRIBUTE_LINKAGE_NAME);
        name = name ? name : dw.name(&scopes[i]);
        places[count - 1].function = name ? name : "?";
        places[count++] = (struct sc_source_place){
            .file = call_file(unit, &scopes[i]),
            .folder = places[0].folder,
            .line = (int)number_of(&scopes[i], ATTRIBUTE_CALL_LINE),
        };
    }
    return count;
}

/* The scopes at an address go from an inlined function to where its source stands; those of its
 * own entry go to where it was called. */
static size_t find_inlined(struct die *unit, uint64_t address, struct sc_source_place *places)
{
    struct die *at = NULL, *of = NULL;
    size_t count = 1;
    if (dw.scopes_at(unit, address, &at) > 0) {
        int scope_count = dw.scopes_of(&at[0], &of);
        count = add_inlined(unit, of, scope_count, places);
    }
    free(at);
    free(of);
    return count;
}

size_t sc_source_lines_find(struct sc_source_lines *lines, uint64_t address,
                            struct sc_source_place *places)
{
    uint64_t bias = 0;
    void *source = dw.get_source(lines->module, lines->bias + address);
    struct die *unit = dw.unit_of(lines->module, lines->bias + address, &bias);
    if (!source)
        return 0;
    places[0] = (struct sc_source_place){.folder = string_of(unit, ATTRIBUTE_FOLDER)};
    places[0].file = dw.line_info(source, NULL, &places[0].line, NULL, NULL, NULL);
    return unit ? find_inlined(unit, lines->bias + address - bias, places) : 1;
}
