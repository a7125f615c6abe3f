#define _GNU_SOURCE 1
#include "report/command/command.h"
#include "report/command/reader.h"
#include "report/command/render.h"
#include "report/command/symbols.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static bool add_file(struct sc_reader *reader, const char *path)
{
    size_t size;
    char *bytes = sc_reader_load(path, &size);
    if (bytes == NULL)
        return false;
    bool is_report = sc_reader_add(reader, path, bytes, size);
    if (!is_report)
        fprintf(stderr, "safecopy: %s is not a report\n", path);
    free(bytes);
    return is_report;
}

/* Tells the symbols which builds ran. */
static void expect_modules(const struct sc_reader *reader, struct sc_symbols *symbols)
{
    size_t i, j;
    json_t *entry, *module;
    json_array_foreach(reader->runs, i, entry)
    {
        const json_t *modules = json_object_get(json_object_get(entry, "run"), "modules");
        json_array_foreach(modules, j, module)
        {
            const char *path = sc_reader_string(module, "path", NULL);
            const char *build_id = sc_reader_string(module, "build_id", NULL);
            if (path != NULL && build_id != NULL)
                sc_symbols_expect(symbols, path, build_id);
        }
    }
}

static int show(char *const *paths, bool as_json)
{
    struct sc_reader reader;
    struct sc_symbols *symbols = sc_symbols_new();
    bool ready = sc_reader_init(&reader) && symbols != NULL;
    bool readable = ready;
    for (; ready && *paths != NULL; paths++)
        readable = add_file(&reader, *paths) && readable;
    if (ready && json_array_size(reader.runs) > 0) {
        expect_modules(&reader, symbols);
        (as_json ? sc_render_json : sc_render_text)(&reader, symbols);
    }
    int status = !readable ? SC_COMMAND_USAGE : reader.hazardous ? SC_COMMAND_FOUND : 0;
    sc_symbols_free(symbols);
    sc_reader_free(&reader);
    return fflush(stdout) == 0 ? status : SC_COMMAND_USAGE;
}

int sc_command_report(int argc, char **argv)
{
    static const struct option flags[] = {{"json", no_argument, NULL, 'j'}, {NULL, 0, NULL, 0}};
    bool as_json = false;
    int flag;
    while ((flag = getopt_long(argc, argv, "", flags, NULL)) != -1) {
        if (flag == '?')
            return SC_COMMAND_USAGE;
        as_json = true;
    }
    if (optind == argc) {
        fprintf(stderr, "safecopy: which report? name a file; see safecopy --help\n");
        return SC_COMMAND_USAGE;
    }
    return show(argv + optind, as_json);
}
