#define _GNU_SOURCE 1
#include "report/command/preload.h"

#include "report/command/say.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const char name[] = "libsafecopy.so";

/* Returns the path of this command; what it was started as, where there is no /proc. */
const char *sc_preload_command(struct sc_scratch *scratch)
{
    char *path = sc_scratch_take(scratch, PATH_MAX);
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length > 0) {
        path[length] = '\0';
        return path;
    }
    const char *started = (const char *)getauxval(AT_EXECFN);
    return started && realpath(started, path) ? path : "";
}

/* Looks for the library where installations have it, beside the command. Returns NULL if it is not
 * there. */
const char *sc_preload_look(struct sc_scratch *scratch, const char **sought)
{
    static const char *const places[] = {"", "/../lib", "/../lib64"};
    char *directory = sc_scratch_print(scratch, "%s", sc_preload_command(scratch));
    char *slash = strrchr(directory, '/');
    if (slash)
        *slash = '\0';
    *sought = directory;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *candidate = sc_scratch_print(scratch, "%s%s/%s", directory, places[i], name);
        char *library = sc_scratch_take(scratch, PATH_MAX);
        if (realpath(candidate, library))
            return library;
    }
    return NULL;
}

/* Returns the path of the library to preload; NULL, after a message on stderr: it is not found. */
const char *sc_preload_find(struct sc_scratch *scratch)
{
    const char *sought, *library = sc_preload_look(scratch, &sought);
    if (!library)
        sc_say("%s is neither in %s nor in %s/../lib", name, sought, sought);
    return library;
}

/* Can LD_PRELOAD name this path? Blanks and colons separate its entries. */
bool sc_preload_can_name(const char *library)
{
    return !strpbrk(library, " :");
}

/* Can the library be preloaded from this path? If not, writes a message to stderr. */
static bool is_preloadable(const char *library)
{
    if (sc_preload_can_name(library))
        return true;
    sc_say("%s cannot be preloaded from a path with a blank or a colon", library);
    return false;
}

/* Sets an option of AddressSanitizer in the environment, whose library otherwise ends a process in
 * which it was not loaded first. Most programs get this from the library itself
 * (interpose/base/sanitizers.h), and not those with defaults of their own. */
static void allow_sanitizer(struct sc_scratch *scratch)
{
    const char *given = getenv("ASAN_OPTIONS");
    if (given && strstr(given, "verify_asan_link_order"))
        return;
    setenv("ASAN_OPTIONS",
           sc_scratch_print(scratch, "%s%sverify_asan_link_order=0", given ? given : "",
                            given && given[0] != '\0' ? ":" : ""),
           1);
}

/* Puts the library at the head of LD_PRELOAD. Prints a message and returns false if its path cannot
 * stand there. */
bool sc_preload_set(struct sc_scratch *scratch, const char *library)
{
    const char *given = getenv("LD_PRELOAD");
    char *others = sc_scratch_print(scratch, "%s", given ? given : "");
    char *list = sc_scratch_print(scratch, "%s", library);
    char *rest = NULL;
    if (!is_preloadable(library))
        return false;
    for (char *other = strtok_r(others, " :", &rest); other; other = strtok_r(NULL, " :", &rest))
        if (strcmp(basename(other), name) != 0)
            list = sc_scratch_print(scratch, "%s:%s", list, other);
    setenv("LD_PRELOAD", list, 1);
    allow_sanitizer(scratch);
    return true;
}

/* Has the CUDA driver load the library. Prints a message and returns false if it has to load
 * another one. */
bool sc_preload_inject(const char *library)
{
    static const char variable[] = "CUDA_INJECTION64_PATH";
    const char *other = getenv(variable);
    if (!other || other[0] == '\0' || strcmp(basename(other), name) == 0)
        return setenv(variable, library, 1) == 0;
    sc_say("the driver loads one library alone, and %s names %s", variable, other);
    return false;
}
