/* Any bytes as a path of a report and, behind the first end of line, as the file of that name.
 * Around it lies what a stranger's checkout may have: links to secrets, and what is no file. No
 * line of a secret is shown, and with a root none from outside; each line that is shown is one
 * line.
 */
#include "report/command/excerpts.h"
#include "tests/fuzz/terminal.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No seed has these, so no file that is made of bytes has. */
#define SECRET "sX7hidden"
#define OUTSIDE "oY8beyond"

static char folder[] = "/tmp/fuzz-excerpts-XXXXXX";

/* ---- what lies there ---- */

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status, (void)type, (void)at;
    return remove(path);
}

static void remove_all(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) != 0)
        abort();
}

static void make_link(const char *name, const char *target)
{
    if (symlink(target, name) != 0)
        abort();
}

/* Goes there: the working folder is the root. The name of the process is a secret in /proc. */
static void make_checkout(void)
{
    static const char secret[] = SECRET "\n" SECRET "\n" SECRET "\n";
    static const char outside[] = OUTSIDE "\n" OUTSIDE "\n" OUTSIDE "\n";
    if (!mkdtemp(folder) || chdir(folder) != 0 || mkdir("out", 0700) != 0 ||
        mkdir("a", 0700) != 0 || mkdir("ab", 0700) != 0)
        abort();
    atexit(remove_all);
    write_file("secret", secret, sizeof secret - 1);
    write_file("out/b.c", outside, sizeof outside - 1);
    write_file("ab/b.c", outside, sizeof outside - 1);
    if (prctl(PR_SET_NAME, SECRET) != 0 || chdir("a") != 0 || mkdir("d.c", 0700) != 0 ||
        mkfifo("p.c", 0600) != 0)
        abort();
    make_link("s.c", "../secret");
    make_link("o.c", "../out/b.c");
    make_link("u", "..");
    make_link("l.c", "l.c");
    make_link("m.c", "/proc/self/comm");
    make_link("r", "/proc/self/root");
}

/* ---- what is shown ---- */

static void check_line(const char *line, bool has_root)
{
    enum { WIDTH = 160 };
    if (strpbrk(line, "\n\t") || strlen(line) > WIDTH + 3 || strstr(line, SECRET) ||
        (has_root && strstr(line, OUTSIDE)))
        abort();
}

static void show(const struct sc_source_roots *roots, const char *path, size_t line)
{
    struct sc_scratch scratch = {0};
    struct sc_excerpts *excerpts = sc_excerpts_new(roots);
    if (!excerpts)
        abort();
    for (int again = 0; again < 2; again++) {
        struct sc_excerpt excerpt = sc_excerpts_read(excerpts, &scratch, path, line);
        if (excerpt.count > SC_EXCERPTS_LINES ||
            (excerpt.count > 0 && (line < excerpt.first || line >= excerpt.first + excerpt.count)))
            abort();
        for (size_t i = 0; i < excerpt.count; i++)
            check_line(excerpt.lines[i], roots->count > 0);
    }
    sc_excerpts_tell_hidden(excerpts);
    sc_excerpts_free(excerpts);
    sc_scratch_free(&scratch);
}

static void show_all(const char *path)
{
    struct sc_source_roots none = {0}, one = {0};
    if (!sc_source_roots_add(&one, "."))
        abort();
    for (size_t line = 0; line < 5; line++) {
        show(&none, path, line);
        show(&one, path, line);
    }
    show(&one, path, SIZE_MAX);
    if (sc_source_roots_add(&one, path) && one.count != 2)
        abort();
    sc_source_roots_free(&one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool is_made;
    if (!is_made)
        make_checkout();
    is_made = true;
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t length = end ? (size_t)(end - data) : size;
    char *path = strndup((const char *)data, length);
    if (!path)
        abort();
    terminal_listen();
    write_file("f.c", data + length, size - length);
    show_all(path);
    terminal_judge();
    free(path);
    return 0;
}

#ifdef SC_FUZZ_STANDALONE
#include "tests/fuzz/standalone.h"

int main(int argc, char **argv)
{
    static const char *const seeds[] = {
        "",
        "f.c\none\n\ttwo \r\nthree\xff\xfe\n\x1b[2J\n\n\nseven",
        "f.c\n                                                                                \t"
        "                                                                        \t\t\tend\n",
        "s.c",
        "o.c",
        "u/out/b.c",
        "u/ab/b.c",
        "../ab/b.c",
        "l.c",
        "m.c",
        "p.c",
        "d.c/../f.c\nx\n",
        "r/proc/self/cwd/../out/b.c",
        "/proc/self/cwd/f.c\nx\n\n",
        "/proc/self/comm",
        "u/secret",
        "r/\x9b\n",
    };
    return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0]);
}
#endif
