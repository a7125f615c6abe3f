#define _GNU_SOURCE 1
#include "report/command/command.h"
#include "report/command/embed.h"
#include "report/command/say.h"
#include "report/nearest.h"

#include <stdio.h>
#include <string.h>

SC_EMBED(sc_explain_page, "docs/hazards.md");

static const char *const rows[][2] = {
#define SC_HAZARD(code, name, subject, advice) {#code, name},
#include "track/hazard.def"
};

enum { COUNT = sizeof rows / sizeof rows[0] };

/* Codes first, then names. */
static const char *word(unsigned index)
{
    return index < 2 * COUNT ? rows[index % COUNT][index / COUNT] : NULL;
}

static const char *code_of(const char *asked)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcasecmp(asked, rows[i][0]) == 0 || strcmp(asked, rows[i][1]) == 0)
            return rows[i][0];
    return NULL;
}

/* The section of the page that begins with "## CODE", up to the next one. */
static void print_section(const char *code)
{
    char head[32];
    snprintf(head, sizeof head, "\n## %s\n", code);
    const char *start = strstr(sc_explain_page, head);
    const char *end = start ? strstr(start + strlen(head), "\n## ") : NULL;
    if (start)
        printf("%.*s\n", (int)(end ? end - start - 1 : (int)strlen(start + 1)), start + 1);
}

static int explain(const char *asked)
{
    const char *code = code_of(asked);
    if (code) {
        print_section(code);
        return 0;
    }
    sc_say("no hazard is called '%s'; did you mean '%s'?", asked,
           sc_nearest_word(asked, strlen(asked), word));
    return SC_COMMAND_USAGE;
}

static void print_all(void)
{
    for (size_t i = 0; i < COUNT; i++)
        printf("%s  %s\n", rows[i][0], rows[i][1]);
}

int sc_command_explain(int argc, char **argv)
{
    int status = 0;
    if (argc < 2)
        print_all();
    for (int i = 1; i < argc && status == 0; i++)
        status = explain(argv[i]);
    return status;
}
