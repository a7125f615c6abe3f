#define _GNU_SOURCE 1
#include "report/command/command.h"
#include "report/command/embed.h"
#include "report/command/markdown.h"
#include "report/command/say.h"
#include "report/nearest.h"

#include <stdbool.h>
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
static const char *find_section(const char *code, size_t *length)
{
    char head[32];
    snprintf(head, sizeof head, "\n## %s\n", code);
    const char *start = strstr(sc_explain_page, head);
    const char *end = start ? strstr(start + strlen(head), "\n## ") : NULL;
    *length = start ? (end ? (size_t)(end - start - 1) : strlen(start + 1)) : 0;
    return start ? start + 1 : NULL;
}

static void print_section(const char *code)
{
    size_t length;
    const char *section = find_section(code, &length);
    if (section)
        sc_markdown_put_plain(stdout, section, length);
    putchar('\n');
}

/* Its code, and the paragraph below it, which begins with its name. */
static void print_brief(const char *code)
{
    size_t length;
    const char *section = find_section(code, &length);
    const char *start = section ? strstr(section, "\n\n") : NULL;
    const char *end = start ? strstr(start + 2, "\n\n") : NULL;
    printf("%s ", code);
    if (end)
        sc_markdown_put_plain(stdout, start + 2, (size_t)(end - start - 2));
    puts("\n");
}

/* "SC2" are all codes that begin so. */
static bool print_group(const char *asked)
{
    size_t length = strlen(asked);
    bool is_there = false;
    for (size_t i = 0; length >= 2 && i < COUNT; i++) {
        if (strncasecmp(asked, rows[i][0], length) != 0)
            continue;
        print_brief(rows[i][0]);
        is_there = true;
    }
    return is_there;
}

static int explain(const char *asked)
{
    const char *code = code_of(asked);
    if (code)
        print_section(code);
    if (code || print_group(asked))
        return 0;
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
