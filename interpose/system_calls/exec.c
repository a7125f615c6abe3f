/* Hooks of exec and posix_spawn. Linux reads arguments and environment, and would fail with EFAULT
 * if these lay on a guarded page. The new program starts in place of this process, or in a child
 * that shares its memory. So all pages are unprotected first, and what Linux reads is on loan:
 * otherwise another thread's copy could protect it again meanwhile. */
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "common/frames.h"
#include "common/library_lock.h"
#include "common/pages.h"
#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/loans.h"
#include "interpose/signals/signal_mask.h"
#include "interpose/system_calls/exec.h"
#include "interpose/system_calls/prefault.h"

#include "common/poison.h"

typedef int execve_function(const char *path, char *const arguments[], char *const environment[]);
typedef int execv_function(const char *path, char *const arguments[]);
typedef int fexecve_function(int fd, char *const arguments[], char *const environment[]);
typedef int execveat_function(int folder, const char *path, char *const arguments[],
                              char *const environment[], int flags);
typedef int spawn_function(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const arguments[],
                           char *const environment[]);

/* Unprotects all pages before exec, unless this is a handler that has interrupted a lock of the
 * library. Waits for a lock at most a second: in a child of vfork its owner is in another process.
 */
static void unprotect_all(void)
{
    SC_KEEP_ERRNO();
    if (sc_guard_busy() && !sc_library_lock_depth)
        sc_guard_unprotect_all(true);
}

/* Called before an exec that replaces this program: writes to disk what was found, and unprotects
 * all pages. */
void sc_exec_prepare(void)
{
    sc_life_may_vanish();
    unprotect_all();
}

/* Called before an exec or posix_spawn, with what Linux will read: path, arguments and environment.
 * Makes that accessible, and keeps other threads from protecting it until the call returns (a
 * loan). If the new program replaces this one, the loan ends with the process. If it starts in a
 * child of vfork, the loan ends when the caller's frame is found to be gone. */
static void lend_arguments(struct sc_loans *loans, const char *name, void *site, const char *path,
                           char *const arguments[], char *const environment[])
{
    if (!sc_prefault_is_needed())
        return;
    SC_KEEP_ERRNO();
    struct sc_prefault prefault = {.culprit = {.api = name, .site = site}, .loans = loans};
    if (path)
        sc_prefault_string(&prefault, path, PATH_MAX);
    sc_prefault_strings(&prefault, arguments);
    sc_prefault_strings(&prefault, environment);
}

/* Called before posix_spawn, with what its child will read in its parent's memory, where a fault
 * would kill the child: makes that accessible, and keeps it so until the call returns (a loan). */
static void prefault_spawn_arguments(struct sc_loans *loans, const char *name, void *site,
                                     const posix_spawn_file_actions_t *actions,
                                     const posix_spawnattr_t *attributes)
{
    if (!sc_prefault_is_needed())
        return;
    SC_KEEP_ERRNO();
    struct sc_prefault prefault = {.culprit = {.api = name, .site = site}, .loans = loans};
    if (actions)
        sc_prefault_buffer(&prefault, actions, sizeof *actions, SC_TOUCH_READ);
    if (attributes)
        sc_prefault_buffer(&prefault, attributes, sizeof *attributes, SC_TOUCH_READ);
}

/* Calls libc's function of that name (an exec or posix_spawn), and returns its result. The new
 * program inherits Linux's signal mask, which becomes the one that this program believes it has.
 * What stands last is done before the call. */
#define PASS_ON(type, name, path, words, environment, arguments, ...)                              \
    do {                                                                                           \
        struct sc_loans loans_ = {.frame = SC_FRAME()};                                            \
        lend_arguments(&loans_, #name, SC_SITE(), path, words, environment);                       \
        __VA_ARGS__;                                                                               \
        unprotect_all();                                                                           \
        sc_signal_mask_begin_exec();                                                               \
        int result_ = SC_NEXT(type *, #name) arguments;                                            \
        sc_signal_mask_end_failed_exec();                                                          \
        sc_loans_end(&loans_);                                                                     \
        return result_;                                                                            \
    } while (0)

/* Prepares for exec, and calls it; it returns only if it fails. */
#define REPLACE(type, name, path, words, environment, arguments)                                   \
    do {                                                                                           \
        sc_life_may_vanish();                                                                      \
        PASS_ON(type, name, path, words, environment, arguments);                                  \
    } while (0)

/* The hook of execve: exec with arguments and an environment. */
SC_EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    REPLACE(execve_function, execve, path, arguments, environment, (path, arguments, environment));
}

/* The hook of execv: exec with the present environment. */
SC_EXPORT int execv(const char *path, char *const arguments[])
{
    REPLACE(execv_function, execv, path, arguments, environ, (path, arguments));
}

/* The hook of execvp: exec of a program that is searched for in PATH. */
SC_EXPORT int execvp(const char *path, char *const arguments[])
{
    REPLACE(execv_function, execvp, path, arguments, environ, (path, arguments));
}

/* The hook of execvpe: the same with an environment. */
SC_EXPORT int execvpe(const char *path, char *const arguments[], char *const environment[])
{
    REPLACE(execve_function, execvpe, path, arguments, environment, (path, arguments, environment));
}

/* The hook of fexecve: exec of an open file, so no path is read. */
SC_EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
    REPLACE(fexecve_function, fexecve, NULL, arguments, environment, (fd, arguments, environment));
}

#if !__GLIBC_PREREQ(2, 34)
int execveat(int folder, const char *path, char *const arguments[], char *const environment[],
             int flags);
#endif

/* The hook of execveat: exec of a path below an open folder. */
SC_EXPORT int execveat(int folder, const char *path, char *const arguments[],
                       char *const environment[], int flags)
{
    REPLACE(execveat_function, execveat, path, arguments, environment,
            (folder, path, arguments, environment, flags));
}

/* Functions that take a list have its words in the caller's frame. libc's own make an array of the
 * list, as these do, and call no function that is hooked. */

/* Returns the number of words before the NULL that ends the list. */
static size_t count_list(const char *first, va_list list)
{
    size_t count = 0;
    for (const char *word = first; word; word = va_arg(list, const char *))
        count++;
    return count;
}

/* Makes an array of the list of words, with its NULL, on the stack. `list` is left after its NULL,
 * where execle has the environment. */
#define LIST_TO_ARRAY(array, first, list)                                                          \
    do {                                                                                           \
        va_list ahead_;                                                                            \
        va_copy(ahead_, list);                                                                     \
        (array) = __builtin_alloca((count_list(first, ahead_) + 1) * sizeof *(array));             \
        va_end(ahead_);                                                                            \
        (array)[0] = (char *)(uintptr_t)(first);                                                   \
        for (size_t i_ = 0; (array)[i_]; i_++)                                                     \
            (array)[i_ + 1] = va_arg(list, char *);                                                \
    } while (0)

/* Defines the hook of an exec that takes a list of words, by the function that takes an array. */
#define REPLACE_BY_LIST(name, array_name)                                                          \
    SC_EXPORT int name(const char *path, const char *first, ...)                                   \
    {                                                                                              \
        char **arguments;                                                                          \
        va_list list;                                                                              \
        va_start(list, first);                                                                     \
        LIST_TO_ARRAY(arguments, first, list);                                                     \
        va_end(list);                                                                              \
        REPLACE(execv_function, array_name, path, arguments, environ, (path, arguments));          \
    }

REPLACE_BY_LIST(execl, execv)
REPLACE_BY_LIST(execlp, execvp)

/* The hook of execle: exec with a list of words, and the environment behind its NULL. */
SC_EXPORT int execle(const char *path, const char *first, ...)
{
    char **arguments;
    va_list list;
    va_start(list, first);
    LIST_TO_ARRAY(arguments, first, list);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    REPLACE(execve_function, execve, path, arguments, environment, (path, arguments, environment));
}

/* The hook of posix_spawn: the child reads all arguments in this process's memory, as after vfork.
 */
SC_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const arguments[],
                          char *const environment[])
{
    PASS_ON(spawn_function, posix_spawn, path, arguments, environment,
            (pid, path, actions, attributes, arguments, environment),
            prefault_spawn_arguments(&loans_, "posix_spawn", SC_SITE(), actions, attributes));
}

/* The hook of posix_spawnp: posix_spawn of a program that is searched for in PATH. */
SC_EXPORT int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const arguments[],
                           char *const environment[])
{
    PASS_ON(spawn_function, posix_spawnp, path, arguments, environment,
            (pid, path, actions, attributes, arguments, environment),
            prefault_spawn_arguments(&loans_, "posix_spawnp", SC_SITE(), actions, attributes));
}
