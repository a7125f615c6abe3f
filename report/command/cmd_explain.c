#define _GNU_SOURCE 1
#include "report/command/command.h"
#include "report/command/embed.h"
#include "report/command/markdown.h"
#include "report/command/say.h"
#include "report/command/scratch.h"
#include "report/command/wrapped.h"
#include "report/nearest.h"
#include "report/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SC_EMBED(sc_explain_page, "docs/hazards.md");

static const struct row {
    const char *code, *name, *advice;
} rows[] = {
#define SC_HAZARD(code, name, subject, advice) {#code, name, advice},
#include "common/hazard.def"
};

enum { COUNT = sizeof rows / sizeof rows[0] };

static const char *code_of(unsigned index)
{
    return index < COUNT ? rows[index].code : NULL;
}

static const char *name_of(unsigned index)
{
    return index < COUNT ? rows[index].name : NULL;
}

/* Finds a hazard by its code or its name. */
static const struct row *find_row(const char *asked)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcasecmp(asked, rows[i].code) == 0 || strcmp(asked, rows[i].name) == 0)
            return &rows[i];
    return NULL;
}

/* Returns the section of the page that begins with "## CODE", up to the next one. */
static const char *find_section(const char *code, size_t *length)
{
    char head[32];
    snprintf(head, sizeof head, "\n## %s\n", code);
    const char *start = strstr(sc_explain_page, head);
    const char *end = start ? strstr(start + strlen(head), "\n## ") : NULL;
    *length = start ? (end ? (size_t)(end - start - 1) : strlen(start + 1)) : 0;
    return start ? start + 1 : NULL;
}

/* Prints what to do about a hazard, wrapped to the terminal's width. */
static void put_advice(const char *advice)
{
    struct sc_scratch scratch = {0};
    const char *line = sc_scratch_print(&scratch, "What to do: %s.", advice);
    sc_wrapped_put(stdout, line, strlen(line));
    sc_scratch_free(&scratch);
}

/* Prints the documentation of a code. What to do is printed right below the code. */
static void print_section(const struct row *row)
{
    size_t length;
    const char *section = find_section(row->code, &length);
    const char *body = section ? strchr(section, '\n') : NULL;
    printf("%s %s\n\n", row->code, row->name);
    put_advice(row->advice);
    if (body)
        sc_markdown_put_plain(stdout, body + 1, length - (size_t)(body + 1 - section));
    putchar('\n');
}

/* Prints the paragraph below the head of a section, which begins with the hazard's name. */
static void put_first_paragraph(FILE *out, const char *code)
{
    size_t length;
    const char *section = find_section(code, &length);
    const char *start = section ? strstr(section, "\n\n") : NULL;
    const char *end = start ? strstr(start + 2, "\n\n") : NULL;
    if (end)
        sc_markdown_put_plain(out, start + 2, (size_t)(end - start - 2));
}

/* Prints the first paragraph of the code's documentation. */
static void print_brief(const char *code)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return;
    fprintf(memory, "%s ", code);
    put_first_paragraph(memory, code);
    fclose(memory);
    sc_wrapped_put(stdout, text, length);
    putchar('\n');
    free(text);
}

/* Explains all codes that begin so, as "SC2". Returns false if there are none. */
static bool print_group(const char *asked)
{
    size_t length = strlen(asked);
    bool is_there = false;
    for (size_t i = 0; length >= 2 && i < COUNT; i++) {
        if (strncasecmp(asked, rows[i].code, length) != 0)
            continue;
        print_brief(rows[i].code);
        is_there = true;
    }
    return is_there;
}

/* Writes to stderr that there is no such hazard, and suggests the one with the nearest name. For a
 * code, one is suggested only if there are hazards of its group (the first digit). */
static void refuse(const char *asked)
{
    bool is_flag = asked[0] == '-', is_code = strncasecmp(asked, "sc", 2) == 0;
    bool has_group = false;
    for (size_t i = 0; is_code && i < COUNT; i++)
        has_group = has_group || (asked[2] != '\0' && strncasecmp(asked, rows[i].code, 3) == 0);
    if (sc_options_has(asked, strlen(asked)))
        sc_say("no hazard is called '%s', which is an option: see safecopy help options", asked);
    else if (is_flag || (is_code && !has_group))
        sc_say("no hazard is called '%s'; safecopy explain lists all", asked);
    else
        sc_say("no hazard is called '%s'; did you mean '%s'?", asked,
               sc_nearest_word(asked, strlen(asked), is_code ? code_of : name_of));
}

/* Explains one code, name or group. Returns the exit status. */
static int explain(const char *asked)
{
    const struct row *row = find_row(asked);
    if (row)
        print_section(row);
    if (row || print_group(asked))
        return 0;
    refuse(asked);
    return SC_COMMAND_USAGE;
}

/* Lists all codes with their names: `safecopy explain` without a code. */
static void print_all(void)
{
    for (size_t i = 0; i < COUNT; i++)
        printf("%s  %s\n", rows[i].code, rows[i].name);
}

/* Runs `safecopy explain`: explains each code that is named, up to the first that there is not. */
int sc_command_explain(int argc, char **argv)
{
    int status = 0;
    if (argc < 2)
        print_all();
    for (int i = 1; i < argc && status == 0; i++)
        status = explain(argv[i]);
    return status;
}
