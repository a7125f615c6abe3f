/* exec and posix_spawn: the kernel reads arguments and environment, which may lie on a page that is
 * protected for the sake of a copy, and would refuse with EFAULT. The new program starts in a
 * child that shares our memory, or in our place: everything is let go first. */
#include <errno.h>
#include <spawn.h>
#include <stdatomic.h>
#include <unistd.h>

#include "interpose/driver.h"
#include "interpose/guard.h"
#include "interpose/loader.h"

#include "track/poison.h"

typedef int execve_function(const char *path, char *const arguments[], char *const environment[]);
typedef int execv_function(const char *path, char *const arguments[]);
typedef int fexecve_function(int fd, char *const arguments[], char *const environment[]);
typedef int spawn_function(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const arguments[],
                           char *const environment[]);

static void let_go(void)
{
    int saved = errno;
    if (sc_guard_busy() && !sc_track_inside)
        sc_guard_release_all();
    errno = saved;
}

#define PASS_ON(type, name, arguments)                                                             \
    do {                                                                                           \
        let_go();                                                                                  \
        return SC_NEXT(type *, #name) arguments;                                                   \
    } while (0)

SC_EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    PASS_ON(execve_function, execve, (path, arguments, environment));
}

SC_EXPORT int execv(const char *path, char *const arguments[])
{
    PASS_ON(execv_function, execv, (path, arguments));
}

SC_EXPORT int execvp(const char *path, char *const arguments[])
{
    PASS_ON(execv_function, execvp, (path, arguments));
}

SC_EXPORT int execvpe(const char *path, char *const arguments[], char *const environment[])
{
    PASS_ON(execve_function, execvpe, (path, arguments, environment));
}

SC_EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
    PASS_ON(fexecve_function, fexecve, (fd, arguments, environment));
}

SC_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const arguments[],
                          char *const environment[])
{
    PASS_ON(spawn_function, posix_spawn, (pid, path, actions, attributes, arguments, environment));
}

SC_EXPORT int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const arguments[],
                           char *const environment[])
{
    PASS_ON(spawn_function, posix_spawnp, (pid, path, actions, attributes, arguments, environment));
}
