#define _GNU_SOURCE 1
#include "report/command/excerpts.h"

#include "report/command/regular_file.h"
#include "report/command/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FILE_SIZE_MAX = 4 * 1024 * 1024, /* hidden_because says it as well */
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
    const struct sc_source_roots *roots;
    struct source *sources; /* the one that was asked for last is the first */
    size_t size, count;
    char *hidden; /* the path of the first that is not shown; NULL: none */
    int why;      /* -errno */
};

/* Makes an empty store of source files that are shown; `roots`: the folders from which they may
 * come. NULL: no memory. */
struct sc_excerpts *sc_excerpts_new(const struct sc_source_roots *roots)
{
    struct sc_excerpts *excerpts = calloc(1, sizeof *excerpts);
    if (excerpts)
        excerpts->roots = roots;
    return excerpts;
}

static void free_source(struct source *source)
{
    free(source->path);
    free(source->text);
    free(source);
}

/* Frees all source files that are kept. */
static void forget_all(struct sc_excerpts *excerpts)
{
    while (excerpts->sources) {
        struct source *source = excerpts->sources;
        excerpts->sources = source->next;
        free_source(source);
    }
    excerpts->size = excerpts->count = 0;
}

/* Frees all; NULL does nothing. */
void sc_excerpts_free(struct sc_excerpts *excerpts)
{
    if (!excerpts)
        return;
    forget_all(excerpts);
    free(excerpts->hidden);
    free(excerpts);
}

/* ---- what is not shown ---- */

/* Records the first source that is not shown, and why, for one message at the end. A file that does
 * not exist, as on another machine than the one that ran, is not recorded. */
static void note_hidden(struct sc_excerpts *excerpts, const char *path, int why)
{
    if (excerpts->hidden || why == -ENOENT || why == -ENOTDIR)
        return;
    excerpts->hidden = strdup(path);
    excerpts->why = why;
}

/* Returns why a source file may not be shown, by the error of sc_source_roots_open; NULL: it is
 * another error. */
static const char *hidden_because(int why)
{
    switch (why) {
    case -EXDEV:
        return "lies outside of every --source-root";
    case -EPERM:
        return "leads to what is no source";
    case -ENOTSUP:
        return "is no regular file";
    case -EFBIG:
        return "is larger than 4 MB";
    case -ENOSYS:
        return "cannot be judged without /proc";
    default:
        return NULL;
    }
}

/* Prints that some source was not shown, with one example. */
void sc_excerpts_tell_hidden(const struct sc_excerpts *excerpts)
{
    if (!excerpts->hidden)
        return;
    const char *reason = hidden_because(excerpts->why);
    if (reason)
        sc_say("some source is not shown: %s %s", excerpts->hidden, reason);
    else
        sc_say("some source is not shown: %s cannot be read: %s", excerpts->hidden,
               strerror(-excerpts->why));
}

/* ---- files ---- */

/* Reads the file, if it lies below a folder that may be shown. Returns a negative reason if it may
 * not or cannot be read. */
static int read_text(const struct sc_source_roots *roots, struct source *source)
{
    int fd = sc_source_roots_open(roots, source->path);
    if (fd < 0)
        return fd;
    int result = sc_regular_file_read_open(fd, FILE_SIZE_MAX, &source->text, &source->size);
    close(fd);
    return result;
}

/* Reads a source file and keeps it. One that may not be shown, or is not there, is kept without a
 * text, so that it is not tried again. NULL: no memory. */
static struct source *read_source(struct sc_excerpts *excerpts, const char *path)
{
    struct source *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    source->path = strdup(path);
    if (!source->path) {
        free(source);
        return NULL;
    }
    int result = read_text(excerpts->roots, source);
    if (result < 0)
        note_hidden(excerpts, path, result);
    return source;
}

/* Finds a file that was read before, or reads it. When too much is kept, all is forgotten. */
static struct source *find_source(struct sc_excerpts *excerpts, const char *path)
{
    enum { KEPT_COUNT_MAX = 64 };
    for (struct source *source = excerpts->sources; source; source = source->next)
        if (strcmp(source->path, path) == 0)
            return source;
    if (excerpts->size > KEPT_SIZE_MAX || excerpts->count == KEPT_COUNT_MAX)
        forget_all(excerpts);
    struct source *source = read_source(excerpts, path);
    if (!source)
        return NULL;
    source->next = excerpts->sources;
    excerpts->sources = source;
    excerpts->size += source->size;
    excerpts->count++;
    return source;
}

/* ---- lines ---- */

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

/* Returns a copy of the line as it is shown: with blanks for tabs, and cut to WIDTH_MAX. */
static const char *copy_line(struct sc_scratch *scratch, const char *text, size_t length)
{
    char shown[WIDTH_MAX + TAB + 1];
    show_line(shown, text, length);
    return sc_scratch_print(scratch, "%s", shown);
}

/* Takes the lines around `line`; none if the text is shorter, since then it is another version of
 * the file. */
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

/* Returns the lines of the source around this one; none if the file is not to be had or is
 * shorter. */
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
