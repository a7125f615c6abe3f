#define _GNU_SOURCE 1
#include "report/path.h"

#include "common/text.h"
#include "report/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/poison.h"

/* Returns the file's name: what is behind the last '/'. */
const char *sc_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Stores the host's name, for %h and the run line. One without a name is called localhost: an
 * empty %h could make the report a hidden file. */
static void find_host(char *host, size_t size)
{
    struct utsname name;
    struct sc_text text = sc_text_in(host, size);
    bool has_name = uname(&name) == 0 && name.nodename[0];
    sc_text_put(&text, has_name ? name.nodename : "localhost");
}

/* Stores the number of this process among those that a launcher (torchrun, mpirun, srun) has
 * started; "" if there is none. A launcher may start another: the inner one's variable comes
 * first, in the order of docs/options.md. */
static void find_rank(char *rank, size_t size)
{
    static const char *const variables[] = {
        "RANK",        "HOROVOD_RANK",   "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK",
        "PMI_RANK",    "PMIX_RANK",      "JSM_NAMESPACE_RANK",   "PALS_RANKID",
        "ALPS_APP_PE", "FLUX_TASK_RANK", "SLURM_PROCID"};
    struct sc_text text = sc_text_in(rank, size);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0] && text.used == 0; i++) {
        const char *value = getenv(variables[i]);
        if (value)
            sc_text_put(&text, value);
    }
}

/* Returns the number in field `number` of a line of /proc/PID/stat. `name_end` is the parenthesis
 * behind field 2, the program's name, which may contain blanks itself. */
static uint64_t field_of(const char *name_end, int number)
{
    uint64_t value = 0;
    const char *at = name_end;
    for (int field = 2; at && field < number; field++)
        at = strchr(at + 1, ' ');
    for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    return value;
}

/* Returns when the process was started (field 22), or 0 if it has ended: its state, field 3, is
 * then Z or X. A living process whose first thread has ended is in that state, too, so field 20,
 * the number of threads, must be at most 1. */
static uint64_t start_in(const char *path)
{
    char fields[1024];
    long size = sc_file_read(path, fields, sizeof fields - 1);
    fields[size > 0 ? size : 0] = '\0';
    const char *end = strrchr(fields, ')');
    if (!end)
        return 0;
    bool is_over = strncmp(end, ") Z", 3) == 0 || strncmp(end, ") X", 3) == 0;
    return is_over && field_of(end, 20) <= 1 ? 0 : field_of(end, 22);
}

/* Returns when process `pid` was started. Together with the pid this names one process, though
 * pids are used again. */
uint64_t sc_path_find_start(int32_t pid)
{
    SC_TEXT(text, 32);
    sc_text_format(&text, "/proc/%d/stat", pid);
    return start_in(text.bytes);
}

/* Stores the working directory; "" if it has no name. Linux writes " (deleted)" behind the name of
 * a removed one, which must not be taken for a folder to make: so the name has to lead to where we
 * are. */
static void find_directory(char *directory, size_t size)
{
    struct stat named, own;
    int errno_before = errno;
    sc_file_link("/proc/self/cwd", directory, size);
    if (stat(directory, &named) != 0 || stat(".", &own) != 0 || named.st_dev != own.st_dev ||
        named.st_ino != own.st_ino)
        directory[0] = '\0';
    errno = errno_before;
}

/* Stores what tells this process from others, for file names and the run line. */
void sc_path_find_names(struct sc_path_names *names)
{
    sc_file_link("/proc/self/exe", names->executable, sizeof names->executable);
    find_directory(names->directory, sizeof names->directory);
    find_host(names->host, sizeof names->host);
    find_rank(names->rank, sizeof names->rank);
    names->pid = getpid();
    names->started = start_in("/proc/self/stat");
}

/* Appends a name from outside (a program, a host) as a part of a file's name: with '/' it could
 * lead into another directory, and control characters could steer the terminal of who lists it. */
static void put_name(struct sc_text *text, const char *name)
{
    for (; *name != '\0'; name++) {
        bool is_control = (unsigned char)*name < ' ' || *name == 0x7f;
        sc_text_char(text, *name == '/' || is_control ? '_' : *name);
    }
}

/* Appends what % and `letter` stand for. Returns false if they stand for nothing; they are then
 * appended as they are. */
static bool put_sequence(struct sc_text *text, char letter, const struct sc_path_names *names)
{
    switch (letter) {
    case 'p':
        sc_text_format(text, "%d", names->pid);
        break;
    case 'e':
        put_name(text, names->executable[0] != '\0' ? sc_path_base(names->executable) : "unknown");
        break;
    case 'h':
        put_name(text, names->host);
        break;
    case 'r':
        put_name(text, names->rank[0] != '\0' ? names->rank : "0");
        break;
    default:
        sc_text_format(text, "%%%c", letter);
        return false;
    }
    return true;
}

/* Makes the component of the path from `start` on harmless if a name from outside has made it "."
 * or "..", which lead elsewhere; one that is empty stays so. */
static void replace_dots(struct sc_text *text, size_t start)
{
    size_t length = text->used - start;
    char *component = text->bytes + start;
    if (length <= 2 && strspn(component, ".") >= length)
        memset(component, '_', length);
}

/* Appends one component of the pattern, up to the next '/', with its sequences of % replaced.
 * *pattern is moved to its end. Dots that the user wrote lead where they say: only a component
 * with a sequence is made harmless. */
static void put_component(struct sc_text *text, const char **pattern,
                          const struct sc_path_names *names)
{
    size_t start = text->used;
    bool has_sequence = false;
    for (; **pattern != '\0' && **pattern != '/'; ++*pattern) {
        if ((*pattern)[0] == '%' && (*pattern)[1] != '\0' && (*pattern)[1] != '/')
            has_sequence = put_sequence(text, *++*pattern, names) || has_sequence;
        else
            sc_text_char(text, **pattern);
    }
    if (has_sequence)
        replace_dots(text, start);
}

/* Makes the path of the report out of the pattern: %p, %e, %h and %r are replaced. A relative
 * pattern counts from the working folder in `names`. Returns 0 or -ENAMETOOLONG. */
int sc_path_expand(const char *pattern, const struct sc_path_names *names, char *path, size_t size)
{
    struct sc_text text = sc_text_in(path, size);
    if (pattern[0] != '/') {
        sc_text_put(&text, names->directory);
        if (names->directory[0] != '\0')
            sc_text_char(&text, '/');
    }
    for (put_component(&text, &pattern, names); *pattern != '\0';) {
        sc_text_char(&text, *pattern++);
        put_component(&text, &pattern, names);
    }
    return text.cut ? -ENAMETOOLONG : 0;
}

/* Returns the first letter behind a % that stands for nothing, for a complaint; 0: there is
 * none. */
char sc_path_unknown_letter(const char *pattern)
{
    for (; *pattern != '\0'; pattern++)
        if (pattern[0] == '%' && pattern[1] != '\0' && pattern[1] != '/' &&
            !strchr("pehr", *++pattern))
            return *pattern;
    return '\0';
}
