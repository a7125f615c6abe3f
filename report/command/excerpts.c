#define _GNU_SOURCE 1
#include "report/command/excerpts.h"

#include "report/command/regular_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILE_SIZE_MAX = 4 * 1024 * 1024,
    KEPT_SIZE_MAX = 16 * 1024 * 1024,
    WIDTH_MAX = 160,
    TAB = 4
};

/* A file that was asked for; without a text if it may not be shown. */
struct source {
    struct source *next;
    char *path, *text;
    size_t size;
};

struct sc_excerpts {
    struct source *sources; /* the one that was asked for last is the first */
    size_t size, count;
};

struct sc_excerpts *sc_excerpts_new(void)
{
    return calloc(1, sizeof(struct sc_excerpts));
}

static void free_source(struct source *source)
{
    free(source->path);
    free(source->text);
    free(source);
}

static void forget_all(struct sc_excerpts *excerpts)
{
    while (excerpts->sources) {
        struct source *source = excerpts->sources;
        excerpts->sources = source->next;
        free_source(source);
    }
    excerpts->size = excerpts->count = 0;
}

void sc_excerpts_free(struct sc_excerpts *excerpts)
{
    if (excerpts)
        forget_all(excerpts);
    free(excerpts);
}

/* A report could else have a line of a private key put into a page that goes to others. */
static bool is_source(const char *path)
{
    static const char *const endings[] = {
        ".c",   ".cc", ".cpp", ".cxx", ".c++", ".cu",  ".cuh", ".h",   ".hh",  ".hpp", ".hxx",
        ".inl", ".py", ".pyx", ".pxd", ".pyi", ".rs",  ".jl",  ".f90", ".f03", ".f",   ".go",
        ".m",   ".mm", ".C",   ".ipp", ".tcc", ".cxx", ".def", ".zig", ".d",
    };
    const char *name = strrchr(path, '/');
    const char *ending = strrchr(name ? name : path, '.');
    for (size_t i = 0; ending && i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(ending, endings[i]) == 0)
            return true;
    return false;
}

static struct source *read_source(const char *path)
{
    struct source *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    source->path = strdup(path);
    if (source->path && is_source(path))
        sc_regular_file_read(path, FILE_SIZE_MAX, &source->text, &source->size);
    if (source->path)
        return source;
    free(source);
    return NULL;
}

static struct source *find_source(struct sc_excerpts *excerpts, const char *path)
{
    enum { KEPT_COUNT_MAX = 64 };
    for (struct source *source = excerpts->sources; source; source = source->next)
        if (strcmp(source->path, path) == 0)
            return source;
    if (excerpts->size > KEPT_SIZE_MAX || excerpts->count == KEPT_COUNT_MAX)
        forget_all(excerpts);
    struct source *source = read_source(path);
    if (!source)
        return NULL;
    source->next = excerpts->sources;
    excerpts->sources = source;
    excerpts->size += source->size;
    excerpts->count++;
    return source;
}

/* Puts the line at `text` into `shown`, of WIDTH_MAX + TAB bytes. */
static void show_line(char *shown, const char *text, size_t length)
{
    size_t column = 0;
    for (size_t i = 0; i < length && column < WIDTH_MAX; i++) {
        if (text[i] != '\t') {
            shown[column++] = text[i];
            continue;
        }
        do
            shown[column++] = ' ';
        while (column % TAB != 0);
    }
    while (column > 0 && (shown[column - 1] == ' ' || shown[column - 1] == '\r'))
        column--;
    shown[column] = '\0';
}

static const char *copy_line(struct sc_scratch *scratch, const char *text, size_t length)
{
    char shown[WIDTH_MAX + TAB + 1];
    show_line(shown, text, length);
    return sc_scratch_print(scratch, "%s", shown);
}

/* Takes the lines from `first` to `last`, if the text goes as far as `line`. */
static void take_lines(struct sc_excerpt *excerpt, struct sc_scratch *scratch, const char *text,
                       size_t line)
{
    size_t number = 1;
    for (; *text != '\0' && number <= line + SC_EXCERPTS_AROUND; number++) {
        size_t length = strcspn(text, "\n");
        if (number >= excerpt->first)
            excerpt->lines[excerpt->count++] = copy_line(scratch, text, length);
        text += length + (text[length] == '\n');
    }
    if (number <= line)
        excerpt->count = 0;
}

struct sc_excerpt sc_excerpts_read(struct sc_excerpts *excerpts, struct sc_scratch *scratch,
                                   const char *path, size_t line)
{
    const struct source *source = line > 0 ? find_source(excerpts, path) : NULL;
    struct sc_excerpt excerpt = {.first =
                                     line > SC_EXCERPTS_AROUND ? line - SC_EXCERPTS_AROUND : 1};
    if (source && source->text && line <= source->size)
        take_lines(&excerpt, scratch, source->text, line);
    return excerpt;
}
