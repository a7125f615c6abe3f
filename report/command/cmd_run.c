#define _GNU_SOURCE 1
#include "report/command/command.h"

#include "report/command/say.h"
#include "report/command/suppressed.h"
#include "report/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void complain(void *context, const char *line)
{
    (void)context;
    sc_say("%s", line);
}

__attribute__((format(printf, 1, 2))) static char *text_of(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) {
        sc_say("out of memory");
        exit(SC_COMMAND_USAGE);
    }
    va_end(arguments);
    return text;
}

/* Puts `entry` behind the entries of *options, which the later entry overrules. */
static void add_entry(char **options, const char *key, const char *value)
{
    char *longer = text_of("%s%s%s%s", *options, **options != '\0' ? ":" : "", key, value);
    free(*options);
    *options = longer;
}

static bool is_option_value(const char *value)
{
    if (!strchr(value, ':'))
        return true;
    sc_say("'%s' cannot be given: ':' separates options", value);
    return false;
}

/* The absolute path, since the program may change its folder. NULL after it has said why the path
 * cannot be used. The caller frees it. */
static char *absolute_path(const char *path)
{
    char *absolute = realpath(path, NULL);
    if (!absolute)
        sc_say("cannot use %s: %s", path, strerror(errno));
    if (absolute && is_option_value(absolute))
        return absolute;
    free(absolute);
    return NULL;
}

static bool make_folder(const char *path)
{
    struct stat status;
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        sc_say("cannot make the folder %s: %s", path, strerror(errno));
        return false;
    }
    if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode)) {
        sc_say("%s is no folder", path);
        return false;
    }
    return true;
}

/* A report for each process in a folder, which is made if it is not there. */
static bool add_report_folder(char **options, const char *path)
{
    char *folder = make_folder(path) ? absolute_path(path) : NULL;
    bool is_plain = folder && !strchr(folder, '%');
    if (is_plain) {
        char *value = text_of("%s/safecopy.%%e.%%p.jsonl", folder);
        add_entry(options, "report_path=", value);
        free(value);
    } else if (folder) {
        sc_say("%s cannot take reports: '%%' has a meaning in report_path", path);
    }
    free(folder);
    return is_plain;
}

/* The library would leave a malformed entry out, and go on. */
static bool add_suppressions(char **options, const char *path)
{
    struct sc_suppressed *suppressed = sc_suppressed_read(path);
    char *absolute = suppressed ? absolute_path(path) : NULL;
    bool is_good = absolute;
    if (is_good)
        add_entry(options, "suppressions=", absolute);
    sc_suppressed_free(suppressed);
    free(absolute);
    return is_good;
}

static bool take_flag(int flag, char **argv, char **options)
{
    switch (flag) {
    case 's':
        add_entry(options, "strict=", "1");
        return true;
    case 'o':
        add_entry(options, "", optarg);
        return true;
    case 'r':
        if (!is_option_value(optarg))
            return false;
        add_entry(options, "report_path=", optarg);
        return true;
    case 'd':
        return add_report_folder(options, optarg);
    case 'u':
        return add_suppressions(options, optarg);
    default:
        sc_command_refuse_flag(argv);
        return false;
    }
}

/* Adds the flags to *options; leaves optind at the program. */
static bool read_flags(int argc, char **argv, char **options)
{
    static const struct option flags[] = {
        {"strict", no_argument, NULL, 's'},
        {"option", required_argument, NULL, 'o'},
        {"report", required_argument, NULL, 'r'},
        {"report-dir", required_argument, NULL, 'd'},
        {"suppressions", required_argument, NULL, 'u'},
        {NULL, 0, NULL, 0},
    };
    int flag;
    opterr = 0;
    while ((flag = getopt_long(argc, argv, "+o:", flags, NULL)) != -1)
        if (!take_flag(flag, argv, options))
            return false;
    if (optind < argc)
        return true;
    sc_say("run what? name a program; see safecopy --help");
    return false;
}

static bool are_valid(const char *text, bool *talks)
{
    static struct sc_options options;
    sc_options_defaults(&options);
    bool valid = sc_options_parse(&options, text, complain, NULL) == 0;
    *talks = options.verbosity == 2;
    return valid;
}

/* The library beside the command, or where an installation has it. The caller frees it. */
static char *find_library(void)
{
    static const char *const places[] = {"", "/../lib", "/../lib64"};
    char directory[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);
    directory[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(directory, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *candidate = text_of("%s%s/libsafecopy.so", directory, places[i]);
        char *library = realpath(candidate, NULL);
        free(candidate);
        if (library)
            return library;
    }
    sc_say("libsafecopy.so is neither in %s nor in %s/../lib", directory, directory);
    return NULL;
}

/* LD_PRELOAD cannot quote: a blank or a colon in a path would end it. */
static bool is_preloadable(const char *library)
{
    if (!strpbrk(library, " :"))
        return true;
    sc_say("%s cannot be preloaded from a path with a blank or a colon", library);
    return false;
}

static void preload(const char *library)
{
    const char *others = getenv("LD_PRELOAD");
    bool alone = !others || others[0] == '\0';
    char *list = text_of("%s%s%s", library, alone ? "" : ":", alone ? "" : others);
    setenv("LD_PRELOAD", list, 1);
    free(list);
}

/* AddressSanitizer's library ends a process in which it was not loaded first. Most programs get
 * this from the library itself (interpose/base/sanitizers.h), and not those with defaults of their
 * own.
 */
static void allow_sanitizer(void)
{
    const char *given = getenv("ASAN_OPTIONS");
    char *options = text_of("%s", given ? given : "");
    if (!strstr(options, "verify_asan_link_order")) {
        add_entry(&options, "verify_asan_link_order=", "0");
        setenv("ASAN_OPTIONS", options, 1);
    }
    free(options);
}

static int run(char **program, const char *options)
{
    allow_sanitizer();
    if (options[0] != '\0')
        setenv("SAFECOPY_OPTIONS", options, 1);
    execvp(program[0], program);
    int error = errno;
    unsetenv("LD_PRELOAD");
    sc_say("cannot run %s: %s", program[0], strerror(error));
    return error == ENOENT ? 127 : 126;
}

int sc_command_run(int argc, char **argv)
{
    const char *inherited = getenv("SAFECOPY_OPTIONS");
    char *options = text_of("%s", inherited ? inherited : "");
    char *library = NULL;
    int status = SC_COMMAND_USAGE;
    bool talks = false;
    if (read_flags(argc, argv, &options) && are_valid(options, &talks) &&
        (library = find_library()) != NULL && is_preloadable(library)) {
        preload(library);
        if (talks)
            sc_say("preloading %s", library);
        status = run(argv + optind, options);
    }
    free(library);
    free(options);
    return status;
}
