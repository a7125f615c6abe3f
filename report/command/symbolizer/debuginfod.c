#define _GNU_SOURCE 1
#include "report/command/symbolizer/debuginfod.h"

#include "report/command/say.h"
#include "report/libraries.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* As elfutils/debuginfod.h has it. */
struct client;
typedef int show_progress(struct client *client, long done, long total);
struct functions {
    struct client *(*begin)(void);
    void (*end)(struct client *client);
    void (*set_progress)(struct client *client, show_progress *show); /* elfutils 0.179 */
    int (*find)(struct client *client, const unsigned char *build_id, int length, char **path);
};

#define TIME_MAX_S 60
#define TICK_MAX_NS INT64_C(2000000000)
#define SIZE_MAX_BYTES (INT64_C(2) << 30)
#define SLACK_BYTES (INT64_C(16) << 20) /* that come before anybody looks */

static struct sc_debuginfod_shared own_shared, *shared = &own_shared;
static int64_t size_max_bytes;

/* Sets the memory that is shared with the parent, which limits what all children download. */
void sc_debuginfod_begin(struct sc_debuginfod_shared *given)
{
    shared = given;
}

/* ---- bounds ---- */

/* Returns a number that the variable has, or `otherwise`. */
static int64_t number_in(const char *variable, int64_t most, int64_t otherwise)
{
    const char *text = getenv(variable);
    long long number = text ? strtoll(text, NULL, 10) : 0;
    return number > 0 && number <= most ? number : otherwise;
}

/* Returns how long a download may take, as the user's variable says, within our own limit. */
int64_t sc_debuginfod_time_max_ns(void)
{
    return number_in("DEBUGINFOD_MAXTIME", 1000000, TIME_MAX_S) * INT64_C(1000000000);
}

/* Returns how much room there is where libdebuginfod keeps what it has fetched. */
static int64_t room_in_cache(void)
{
    static const char *const variables[] = {"DEBUGINFOD_CACHE_PATH", "XDG_CACHE_HOME", "HOME"};
    struct statvfs system;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *folder = getenv(variables[i]);
        if (folder && statvfs(folder, &system) == 0)
            return (int64_t)(system.f_bavail * system.f_frsize);
    }
    return INT64_MAX;
}

/* Returns how many bytes a file may have: the user's limit (or ours, if he has set none), or less
 * if the cache has less room. */
static int64_t find_size_max(void)
{
    int64_t most = number_in("DEBUGINFOD_MAXSIZE", INT64_MAX, SIZE_MAX_BYTES);
    int64_t room = room_in_cache();
    return most < room ? most : room;
}

/* Limits how many bytes a server may send. libdebuginfod passes DEBUGINFOD_MAXSIZE on to the
 * server, but older servers and older versions of libdebuginfod ignore it. Therefore the process
 * also gets a limit on the size of files, with which a write fails. */
static void set_size_max(void)
{
    char text[32];
    struct rlimit limit;
    size_max_bytes = find_size_max();
    snprintf(text, sizeof text, "%" PRId64, size_max_bytes > 0 ? size_max_bytes : 1);
    setenv("DEBUGINFOD_MAXSIZE", text, 1);
    signal(SIGXFSZ, SIG_IGN);
    rlim_t most = (rlim_t)size_max_bytes + SLACK_BYTES;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur > most) {
        limit.rlim_cur = most;
        setrlimit(RLIMIT_FSIZE, &limit);
    }
}

/* ---- waiting ---- */

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Returns whether fetching has taken too long. It is called some times a second while libdebuginfod
 * waits; a longer time between two calls was not waiting, and does not count. */
static bool has_waited_enough(void)
{
    static int64_t last_ns;
    int64_t now = now_ns(), since = now - last_ns;
    if (last_ns != 0 && since < TICK_MAX_NS)
        shared->waited_ns += since;
    last_ns = now;
    return shared->waited_ns > sc_debuginfod_time_max_ns();
}

/* Is called by libdebuginfod while it fetches. Returning anything but 0 ends the fetching, which
 * libdebuginfod then tries again some times. Before the size is known `total` is 0 or less. */
static int watch(struct client *client, long done, long total)
{
    (void)client;
    if (shared->is_given_up)
        return 1;
    if (!shared->was_told)
        sc_say("asking the servers of DEBUGINFOD_URLS for debug information");
    shared->was_told = true;
    shared->fetched_bytes = total > 0 && done > 0 ? (uint64_t)done : 0;
    if (done > size_max_bytes || total > size_max_bytes)
        sc_say("the servers of DEBUGINFOD_URLS send more than there is room for, or than 2 GB, and "
               "are asked no more; DEBUGINFOD_MAXSIZE says how many bytes they may send");
    else if (has_waited_enough())
        sc_say("the servers of DEBUGINFOD_URLS are too slow, and asked no more; DEBUGINFOD_MAXTIME "
               "says how many seconds they have");
    else
        return 0;
    shared->is_given_up = true;
    return 1;
}

/* ---- fetching ---- */

/* Loads the client's library. Returns false if it is not installed. */
static bool load(struct functions *functions)
{
    void *library = sc_libraries_open("libdebuginfod.so.1", RTLD_LAZY);
    if (!library)
        return false;
    *(void **)&functions->begin = dlsym(library, "debuginfod_begin");
    *(void **)&functions->end = dlsym(library, "debuginfod_end");
    *(void **)&functions->set_progress = dlsym(library, "debuginfod_set_progressfn");
    *(void **)&functions->find = dlsym(library, "debuginfod_find_debuginfo");
    return functions->begin && functions->end && functions->set_progress && functions->find;
}

/* Has libdebuginfod fetch the file. Returns NULL if it cannot. A length of 0 makes it take the id
 * as hexadecimal digits. */
static char *find(const struct functions *functions, const char *build_id)
{
    char *path = NULL;
    struct client *client = functions->begin();
    if (!client)
        return NULL;
    functions->set_progress(client, watch);
    int fd = functions->find(client, (const unsigned char *)build_id, 0, &path);
    if (fd >= 0)
        close(fd);
    if (fd == -EFBIG && !shared->is_given_up)
        sc_say("the debug file of the build %s has more than DEBUGINFOD_MAXSIZE bytes, or 2 GB, or "
               "than there is room for, and is not fetched",
               build_id);
    functions->end(client);
    return fd >= 0 ? path : NULL;
}

/* Fetches the debug file with this build id. Returns NULL if no server has it, or none is named. */
char *sc_debuginfod_fetch(const char *build_id)
{
    struct functions functions;
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (!urls || urls[0] == '\0' || shared->is_given_up || !load(&functions))
        return NULL;
    set_size_max();
    shared->fetched_bytes = 0;
    shared->is_asking = true;
    char *path = find(&functions, build_id);
    shared->is_asking = false;
    return path;
}
