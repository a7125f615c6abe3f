#define _GNU_SOURCE 1
#include "report/command/debuginfod.h"

#include "report/command/progress.h"
#include "report/command/say.h"

#include <dlfcn.h>
#include <elfutils/version.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#if _ELFUTILS_PREREQ(0, 188)

/* As elfutils/debuginfod.h has it; the library is loaded by libdw. */
typedef int progress(debuginfod_client *, long, long);
typedef void set_progress(debuginfod_client *, progress *);

enum { WAIT_MAX_S = 60, TICK_MAX_NS = 2000000000 };

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t wait_max_ns(void)
{
    const char *wanted = getenv("DEBUGINFOD_MAXTIME");
    long seconds = wanted ? strtol(wanted, NULL, 10) : 0;
    return (seconds > 0 && seconds < 1000000 ? seconds : WAIT_MAX_S) * INT64_C(1000000000);
}

/* Is called some times a second while libdebuginfod waits, so that a longer time between two calls
 * is not waiting. */
static bool has_waited_enough(void)
{
    static int64_t waited_ns, last_ns;
    int64_t now = now_ns(), since = now - last_ns;
    waited_ns += last_ns != 0 && since < TICK_MAX_NS ? since : 0;
    last_ns = now;
    return waited_ns > wait_max_ns();
}

/* Anything but 0 ends the fetching. Before the size is known `total` is 0. */
static int show_progress(debuginfod_client *client, long done, long total)
{
    static bool told;
    (void)client;
    if (!told)
        sc_say("asking the servers of DEBUGINFOD_URLS for debug information");
    told = true;
    if (total > 0)
        sc_progress_show("KB of debug information fetched", (size_t)done / 1024 & ~(size_t)255);
    if (!has_waited_enough())
        return 0;
    sc_say(
        "the servers of DEBUGINFOD_URLS are too slow, and asked no more; DEBUGINFOD_MAXTIME says "
        "how many seconds they have");
    unsetenv("DEBUGINFOD_URLS");
    return 1;
}

void sc_debuginfod_watch(Dwfl *session)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    debuginfod_client *client =
        urls && urls[0] != '\0' ? dwfl_get_debuginfod_client(session) : NULL;
    void *library = client ? dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    set_progress *set = NULL;
    if (library)
        *(void **)&set = dlsym(library, "debuginfod_set_progressfn");
    if (set)
        set(client, show_progress);
}

#else

/* Older ones do not say whom they ask with, and wait as long as they do. */
void sc_debuginfod_watch(Dwfl *session)
{
    (void)session;
}

#endif
