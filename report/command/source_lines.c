#define _GNU_SOURCE 1
#include "report/command/source_lines.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* As elfutils/libdwfl.h has it; the header is not needed to build. */
struct callbacks {
    void *find_elf;
    void *find_debuginfo;
    void *section_address;
    char **debuginfo_path;
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
    struct callbacks callbacks;
} dw;

struct sc_source_lines {
    void *session;
    void *module;
    uint64_t bias;
};

static bool find(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void load_library(void)
{
    void *library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
    dw.tried = true;
    dw.ready = library && find(library, "dwfl_begin", &dw.begin) &&
               find(library, "dwfl_report_offline", &dw.report_offline) &&
               find(library, "dwfl_report_end", &dw.report_end) &&
               find(library, "dwfl_end", &dw.end) &&
               find(library, "dwfl_module_getelf", &dw.get_elf) &&
               find(library, "dwfl_module_getsrc", &dw.get_source) &&
               find(library, "dwfl_lineinfo", &dw.line_info) &&
               find(library, "dwfl_standard_find_debuginfo", &dw.callbacks.find_debuginfo) &&
               find(library, "dwfl_offline_section_address", &dw.callbacks.section_address);
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

const char *sc_source_lines_find(struct sc_source_lines *lines, uint64_t address, int *number)
{
    void *source = dw.get_source(lines->module, lines->bias + address);
    return source ? dw.line_info(source, NULL, number, NULL, NULL, NULL) : NULL;
}
