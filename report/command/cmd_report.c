#define _GNU_SOURCE 1
#include "report/command/command.h"
#include "report/command/reader.h"
#include "report/command/render.h"
#include "report/command/say.h"
#include "report/command/suggest.h"
#include "report/command/symbols.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* "-" is standard input. */
static bool add_file(struct sc_reader *reader, const char *path)
{
    bool is_input = strcmp(path, "-") == 0;
    FILE *stream = is_input ? stdin : fopen(path, "rbe");
    int result = stream ? sc_reader_add(reader, path, stream) : -errno;
    if (stream && !is_input)
        fclose(stream);
    if (result < 0)
        sc_say("cannot read %s: %s", path, strerror(-result));
    if (result == 0)
        sc_say("%s is not a report", path);
    return result > 0;
}

typedef void render_function(FILE *out, const struct sc_reader *reader, struct sc_symbols *symbols);

static int show(char *const *paths, render_function *render)
{
    struct sc_symbols *symbols = sc_symbols_new();
    struct sc_reader reader = {.symbols = symbols, .brief = render != sc_render_json};
    bool readable = symbols != NULL;
    for (; symbols && *paths; paths++)
        readable = add_file(&reader, *paths) && readable;
    if (reader.run_count > 0)
        render(stdout, &reader, symbols);
    int status = !readable ? SC_COMMAND_USAGE : reader.hazardous ? SC_COMMAND_FOUND : 0;
    sc_reader_free(&reader);
    sc_symbols_free(symbols);
    return fflush(stdout) == 0 && !ferror(stdout) ? status : SC_COMMAND_USAGE;
}

int sc_command_report(int argc, char **argv)
{
    static const struct option flags[] = {{"json", no_argument, NULL, 'j'},
                                          {"suggest-suppressions", no_argument, NULL, 's'},
                                          {NULL, 0, NULL, 0}};
    render_function *render = sc_render_text;
    int flag;
    opterr = 0;
    while ((flag = getopt_long(argc, argv, "", flags, NULL)) != -1) {
        if (flag == '?')
            return sc_command_refuse_flag(argv);
        render = flag == 'j' ? sc_render_json : sc_suggest_suppressions;
    }
    if (optind == argc) {
        sc_say("which report? name a file; see safecopy --help");
        return SC_COMMAND_USAGE;
    }
    return show(argv + optind, render);
}
