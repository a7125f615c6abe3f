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

const char *sc_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* One without a name must not make a report a hidden file. */
static void find_host(char *host, size_t size)
{
    struct utsname name;
    struct sc_text text = sc_text_in(host, size);
    bool has_name = uname(&name) == 0 && name.nodename[0];
    sc_text_put(&text, has_name ? name.nodename : "localhost");
}

/* The launchers' variables, the most general first. */
static void find_rank(char *rank, size_t size)
{
    static const char *const variables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                            "SLURM_PROCID"};
    struct sc_text text = sc_text_in(rank, size);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0] && text.used == 0; i++) {
        const char *value = getenv(variables[i]);
        if (value)
            sc_text_put(&text, value);
    }
}

/* A number of /proc/PID/stat. The second field is a name in brackets, which may hold anything. */
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

/* The 22nd field. A process has ended whose state, the third, is Z or X, unless that is its first
 * thread's alone: the 20th is how many there are. */
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

uint64_t sc_path_find_start(int32_t pid)
{
    SC_TEXT(text, 32);
    sc_text_format(&text, "/proc/%d/stat", pid);
    return start_in(text.bytes);
}

/* One that is gone has " (deleted)" behind its name, which nobody must take for a folder to make.
 */
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

void sc_path_find_names(struct sc_path_names *names)
{
    sc_file_link("/proc/self/exe", names->executable, sizeof names->executable);
    find_directory(names->directory, sizeof names->directory);
    find_host(names->host, sizeof names->host);
    find_rank(names->rank, sizeof names->rank);
    names->pid = getpid();
    names->started = start_in("/proc/self/stat");
}

/* A name from outside must not lead into another directory, nor steer the terminal of who lists it.
 */
static void put_name(struct sc_text *text, const char *name)
{
    for (; *name != '\0'; name++) {
        bool is_control = (unsigned char)*name < ' ' || *name == 0x7f;
        sc_text_char(text, *name == '/' || is_control ? '_' : *name);
    }
}

/* False: it is none, and stays as it is. */
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

/* "." and "..", which what was put in may make together with what stands around it, lead elsewhere.
 * `start`: of the component that ends here. */
static void blunt(struct sc_text *text, size_t start)
{
    size_t length = text->used - start;
    char *component = text->bytes + start;
    if (length <= 2 && strspn(component, ".") >= length)
        memset(component, '_', length);
}

/* The component at *pattern, which is moved to its end: a '/' or the NUL. */
static void put_component(struct sc_text *text, const char **pattern,
                          const struct sc_path_names *names)
{
    size_t start = text->used;
    bool has_put_in = false;
    for (; **pattern != '\0' && **pattern != '/'; ++*pattern) {
        if ((*pattern)[0] == '%' && (*pattern)[1] != '\0' && (*pattern)[1] != '/')
            has_put_in = put_sequence(text, *++*pattern, names) || has_put_in;
        else
            sc_text_char(text, **pattern);
    }
    if (has_put_in)
        blunt(text, start);
}

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

char sc_path_unknown_letter(const char *pattern)
{
    for (; *pattern != '\0'; pattern++)
        if (pattern[0] == '%' && pattern[1] != '\0' && pattern[1] != '/' &&
            !strchr("pehr", *++pattern))
            return *pattern;
    return '\0';
}
