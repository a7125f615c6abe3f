#define _GNU_SOURCE 1
#include "report/command/new_reports.h"

#include "report/command/fields.h"
#include "report/command/input.h"
#include "report/command/parse.h"
#include "report/command/regular_file.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Returns the pattern that fits all files which report_path may become. What each process puts in
 * differs (report/path.h), and may be anything. */
static const char *pattern_of(struct sc_scratch *scratch, const char *report_path)
{
    char *pattern = sc_scratch_take(scratch, 2 * strlen(report_path) + 1), *at = pattern;
    for (; *report_path; report_path++) {
        bool is_put_in = *report_path == '%' && report_path[1] && strchr("pehr", report_path[1]);
        if (strchr("*?[\\", *report_path))
            *at++ = '\\';
        *at++ = is_put_in ? '*' : *report_path;
        report_path += is_put_in;
    }
    return pattern;
}

/* Finds the files that report_path may have become. */
static void look(struct sc_new_reports *reports)
{
    memset(&reports->found, 0, sizeof reports->found);
    if (!reports->pattern)
        return;
    glob(reports->pattern, GLOB_PERIOD, NULL, &reports->found);
    if (reports->pattern_if_taken)
        glob(reports->pattern_if_taken, GLOB_PERIOD | GLOB_APPEND, NULL, &reports->found);
}

/* Returns how many "." and ".." the path has. */
static size_t count_dots(const char *path)
{
    size_t count = 0;
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        count += length > 0 && length <= 2 && strspn(path, ".") == length;
        path += length + (path[length] == '/');
    }
    return count;
}

/* Does the path have "." or ".." in place of a '*' of the pattern? The '*' matches these as well,
 * but no process puts them there. */
static bool leads_elsewhere(const struct sc_new_reports *reports, const char *path)
{
    return count_dots(path) > count_dots(reports->pattern);
}

/* Notes, before the run, which reports there are already. A process that finds its path taken
 * writes into PATH.PID, which a '*' at the end covers. */
void sc_new_reports_begin(struct sc_new_reports *reports, struct sc_scratch *scratch,
                          const char *report_path)
{
    if (!report_path)
        return;
    reports->pattern = pattern_of(scratch, report_path);
    if (reports->pattern[strlen(reports->pattern) - 1] != '*')
        reports->pattern_if_taken = sc_scratch_print(scratch, "%s.[0-9]*", reports->pattern);
    look(reports);
    reports->before = sc_scratch_take(scratch, reports->found.gl_pathc * sizeof *reports->before);
    for (size_t i = 0; i < reports->found.gl_pathc; i++)
        if (stat(reports->found.gl_pathv[i], &reports->before[reports->before_count]) == 0)
            reports->before_count++;
    globfree(&reports->found);
}

/* Is it the same file, unchanged in size and time? Then it is not a report of this run. */
static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Is it a regular file, and no link? The library follows no link, so its report is none. */
static bool is_file(const char *path, struct stat *status)
{
    return lstat(path, status) == 0 && S_ISREG(status->st_mode);
}

/* Was the file there before the run, and is unchanged? */
static bool was_there(const struct sc_new_reports *reports, const struct stat *now)
{
    for (size_t i = 0; i < reports->before_count; i++)
        if (is_same(&reports->before[i], now))
            return true;
    return false;
}

/* What is new, in the order of finding. */
struct found {
    char **paths;
    struct stat *files;
    size_t count;
};

/* Is the file among those that were found, maybe by another name? */
static bool has(const struct found *found, const struct stat *file)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->files[i].st_dev == file->st_dev && found->files[i].st_ino == file->st_ino)
            return true;
    return false;
}

static void add(struct found *found, char *path, const struct stat *file)
{
    found->paths[found->count] = path;
    found->files[found->count++] = *file;
}

/* Does the report's first line say that it is of another run? Even a process that cannot write to
 * its run's file for notes (the roll) names that file there. */
static bool is_of_another_run(const char *path, const struct sc_run_roll *roll)
{
    struct sc_input input;
    int error;
    FILE *stream = roll->name[0] != '\0' ? sc_regular_file_stream(path, O_NOFOLLOW, &error) : NULL;
    if (!stream)
        return false;
    bool is_read = sc_input_init(&input, stream) && sc_input_next(&input) > 0;
    json_t *run = is_read ? sc_parse(input.line, input.length) : NULL;
    const char *value = sc_field_string(run, "ledger", NULL);
    bool is_another = value && !sc_run_roll_is_in(roll, value);
    json_decref(run);
    sc_input_free(&input);
    fclose(stream);
    return is_another;
}

/* Returns an empty list with room for `most` files. */
static struct found begin_found(struct sc_scratch *scratch, size_t most)
{
    return (struct found){.paths = sc_scratch_take(scratch, (most + 1) * sizeof(char *)),
                          .files = sc_scratch_take(scratch, most * sizeof(struct stat))};
}

/* Lists the reports of which processes of the run have left a note, each once. */
static struct found find_told(struct sc_scratch *scratch, const struct sc_run_roll *roll)
{
    struct found told = begin_found(scratch, roll->report_count);
    struct stat file;
    struct sc_run_note note;
    for (size_t at = 0; sc_run_roll_next(roll, &at, &note);)
        if (note.what == SC_ROLL_REPORT && is_file(note.path, &file) && !has(&told, &file))
            add(&told, sc_scratch_print(scratch, "%s", note.path), &file);
    return told;
}

/* Finds the reports that this run has written: by the pattern of report_path, and by the notes
 * that its processes have left (report/roll.h). */
char **sc_new_reports_find(struct sc_new_reports *reports, struct sc_scratch *scratch,
                           const struct sc_run_roll *roll)
{
    look(reports);
    struct found told = find_told(scratch, roll);
    struct found found = begin_found(scratch, reports->found.gl_pathc + told.count);
    for (size_t i = 0; i < reports->found.gl_pathc; i++) {
        char *path = reports->found.gl_pathv[i];
        struct stat file;
        if (!leads_elsewhere(reports, path) && is_file(path, &file) && !was_there(reports, &file) &&
            (has(&told, &file) || !is_of_another_run(path, roll)))
            add(&found, path, &file);
    }
    for (size_t i = 0; i < told.count; i++)
        if (!has(&found, &told.files[i]))
            add(&found, told.paths[i], &told.files[i]);
    return found.paths;
}

void sc_new_reports_free(struct sc_new_reports *reports)
{
    globfree(&reports->found);
}
