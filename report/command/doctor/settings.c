#define _GNU_SOURCE 1
#include "report/command/doctor/settings.h"

#include "report/command/say.h"
#include "report/command/suppressed.h"
#include "report/options.h"
#include "report/path.h"
#include "report/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES_MAX = 16 };

struct lines {
    struct sc_scratch *scratch;
    const char **lines; /* room for one more, which is NULL */
    size_t count;
};

/* Begins a list of lines of words that are collected, ended by NULL. */
static struct lines begin_lines(struct sc_scratch *scratch)
{
    return (struct lines){.scratch = scratch,
                          .lines = sc_scratch_take(scratch, (LINES_MAX + 1) * sizeof(char *))};
}

/* Adds a line (a callback of who complains); further ones than LINES_MAX are dropped. */
static void add_line(void *context, const char *line)
{
    struct lines *lines = context;
    if (lines->count < LINES_MAX)
        lines->lines[lines->count++] = sc_scratch_print(lines->scratch, "%s", line);
}

/* ---- where the report goes ---- */

/* Returns the folder of the path: up to its last '/', which stays where it is the root's. "" for a
 * file of the working folder. */
static char *folder_of(struct sc_scratch *scratch, const char *path)
{
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) : 0;
    return sc_scratch_print(scratch, "%.*s", slash == path ? 1 : length, path);
}

/* Finds out whether a file can be created and written in the folder, by doing it: permissions alone
 * do not tell (/proc, a full disk). The file has no name where the file system allows that
 * (O_TMPFILE), so that nobody sees it. Returns 0 or an errno. */
static int try_folder(struct sc_scratch *scratch, const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) {
        char *path = sc_scratch_print(scratch, "%s/.safecopy-doctor-XXXXXX", folder);
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0)
            unlink(path);
    }
    int error = fd < 0 || write(fd, "", 1) != 1 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return error;
}

/* Finds out whether the library could create the file at the path. It creates missing folders, so
 * the innermost folder that exists is tried. Returns 0 or an errno. */
static int try_new_file(struct sc_scratch *scratch, const char *path)
{
    struct stat status;
    const char *folder = folder_of(scratch, path);
    while (folder[0] != '\0' && stat(folder, &status) != 0) {
        if (errno != ENOENT)
            return errno;
        folder = strcmp(folder, "/") == 0 ? "" : folder_of(scratch, folder);
    }
    if (folder[0] != '\0' && !S_ISDIR(status.st_mode))
        return ENOTDIR;
    return try_folder(scratch, folder[0] != '\0' ? folder : ".");
}

/* Finds out whether the report can be written where it is to go, as if the program were started
 * here and now; only its pid differs. Nothing is left behind. */
static void look_at_report(struct sc_settings_facts *facts, struct sc_scratch *scratch,
                           const char *pattern, const char *program)
{
    static struct sc_path_names names; /* two paths of it are long */
    char *path = sc_scratch_take(scratch, SC_OPTIONS_PATH_SIZE);
    if (strcmp(pattern, "none") == 0)
        return;
    sc_path_find_names(&names);
    if (program)
        strncpy(names.executable, program, sizeof names.executable - 1);
    int result = sc_path_expand(pattern, &names, path, SC_OPTIONS_PATH_SIZE);
    if (result == 0)
        result = sc_place_foresee(path, &names, &facts->report_kept);
    struct stat status;
    facts->report = path;
    facts->is_fifo = lstat(path, &status) == 0 && S_ISFIFO(status.st_mode);
    facts->report_error = result == SC_PLACE_NEEDS_FOLDER ? try_new_file(scratch, path)
                          : result < 0                    ? -result
                                                          : 0;
    char letter = sc_path_unknown_letter(pattern);
    facts->unknown_letter = letter ? sc_scratch_print(scratch, "%%%c", letter) : NULL;
}

/* ---- suppressions ---- */

static struct lines said;

/* Takes what a function of the command would have printed, as a line of the diagnosis. */
static void take_said(const char *text)
{
    add_line(&said, text);
}

/* Reads the file of suppressions, and keeps what is wrong or expired in it. */
static void look_at_suppressions(struct sc_settings_facts *facts, struct sc_scratch *scratch,
                                 const char *path)
{
    if (path[0] == '\0')
        return;
    said = begin_lines(scratch);
    sc_say_to(take_said);
    struct sc_suppressed *suppressed = sc_suppressed_read(path);
    facts->suppressions_mistakes = said.lines;
    said = begin_lines(scratch);
    if (suppressed)
        sc_suppressed_tell_expired(suppressed);
    facts->suppressions_expired = said.lines;
    sc_say_to(NULL);
    sc_suppressed_free(suppressed);
}

/* ---- variables ---- */

/* Lists the variables that name a library's folder by a relative path. The library ignores these,
 * since a program may change its working folder (docs/installing.md). NVTX_INJECTION64_PATH may be
 * a plain name. */
static void look_at_relative(struct sc_settings_facts *facts, struct sc_scratch *scratch)
{
    static const char *const names[] = {"CUPTI_PATH", "CUPTI_HOME", "CUDA_HOME", "CUDA_PATH",
                                        "NVTX_INJECTION64_PATH"};
    struct lines lines = begin_lines(scratch);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *path = getenv(names[i]);
        bool may_be_name = strncmp(names[i], "NVTX", 4) == 0;
        if (path && path[0] != '\0' && path[0] != '/' && (strchr(path, '/') || !may_be_name))
            add_line(&lines, sc_scratch_print(scratch, "%s=%s", names[i], path));
    }
    facts->relative = lines.lines;
}

/* Looks at the environment and the options as the library in the program would. */
void sc_settings_look(struct sc_settings_facts *facts, struct sc_scratch *scratch,
                      const char *program)
{
    static struct sc_options options; /* two paths of it are long */
    struct lines complaints = begin_lines(scratch);
    *facts = (struct sc_settings_facts){.preload = getenv("LD_PRELOAD"),
                                        .injection = getenv("CUDA_INJECTION64_PATH"),
                                        .complaints = complaints.lines};
    sc_options_defaults(&options);
    sc_options_parse(&options, getenv("SAFECOPY_OPTIONS"), add_line, &complaints);
    facts->is_off = options.mode == SC_MODE_OFF;
    facts->guard = (enum sc_guard_mode)options.guard;
    facts->mechanism = sc_mechanism_of(facts->guard);
    facts->serves_pinned = options.mode != SC_MODE_OFF && options.pinned == SC_PINNED_HUGE;
    bool is_strict = options.strict || options.misspells_strict;
    facts->strict_status = is_strict && !facts->is_off ? options.exitcode : 0;
    look_at_report(facts, scratch, options.report_path, program);
    look_at_suppressions(facts, scratch, options.suppressions);
    look_at_relative(facts, scratch);
}
