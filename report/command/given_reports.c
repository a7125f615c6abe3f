#define _GNU_SOURCE 1
#include "report/command/given_reports.h"

#include "report/command/input.h"
#include "report/command/regular_file.h"
#include "report/command/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Prints why the file was not read, if it was not. Returns whether it was read. */
bool sc_given_reports_tell(const char *path, int result, const char *kind)
{
    if (result == 0)
        sc_say("%s is not %s", path, kind);
    else if (result < 0 && result != -ENOTSUP)
        sc_say("cannot read %s: %s", path, sc_input_error(result));
    return result > 0;
}

/* The files that were read. */
struct seen {
    struct file {
        dev_t device;
        ino_t inode;
    } * files;
    size_t count;
};

/* Notes that this file is read. Returns whether it was read before; a pipe never was, since its
 * content comes once. */
static bool note_seen(struct seen *seen, FILE *stream)
{
    struct stat file;
    if (fstat(fileno(stream), &file) != 0 || !S_ISREG(file.st_mode))
        return false;
    for (size_t i = 0; i < seen->count; i++)
        if (seen->files[i].device == file.st_dev && seen->files[i].inode == file.st_ino)
            return true;
    if (seen->files)
        seen->files[seen->count++] = (struct file){file.st_dev, file.st_ino};
    return false;
}

/* Reads a report, unless the same file was named before. */
static bool read_stream(struct sc_reader *reader, struct seen *seen, const char *path, FILE *stream)
{
    if (!note_seen(seen, stream))
        return sc_given_reports_tell(path, sc_reader_add(reader, path, stream), "a report");
    sc_say("%s is named twice, and counts once", path);
    return true;
}

/* Reads one report ("-" is standard input). Returns whether it could be read to its end. If not,
 * writes the reason to stderr; what could be read of it counts, and a file that could not be
 * opened is recorded as unreadable. */
static bool read_file(struct sc_reader *reader, struct seen *seen, const char *path)
{
    int error = 0;
    if (strcmp(path, "-") == 0)
        return read_stream(reader, seen, path, stdin);
    FILE *stream = sc_input_open(path, &error);
    if (!stream) {
        sc_reader_add_unreadable(reader, path, sc_regular_file_error(error));
        sc_say("cannot read %s: %s", path, sc_regular_file_error(error));
        return false;
    }
    bool is_read = read_stream(reader, seen, path, stream);
    fclose(stream);
    return is_read;
}

/* Compares file names as people count: r2 before r10. */
static int by_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the paths by the ranks in their names. Ranks that follow each other, and have what the ones
 * before have, take no memory. */
static char **in_order(char *const *paths, size_t count)
{
    char **sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return NULL;
    memcpy(sorted, paths, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_name);
    return sorted;
}

/* Reads all reports. Prints a message and returns false if some cannot be read. */
bool sc_given_reports_read(struct sc_reader *reader, char *const *paths)
{
    size_t count = 0;
    bool are_read = true;
    while (paths[count])
        count++;
    struct seen seen = {.files = calloc(count + 1, sizeof *seen.files)};
    char **sorted = reader->merges ? in_order(paths, count) : NULL;
    for (size_t i = 0; i < count; i++)
        are_read = read_file(reader, &seen, sorted ? sorted[i] : paths[i]) && are_read;
    free(sorted);
    free(seen.files);
    sc_reader_end(reader);
    return are_read;
}
