/* Hooks of kill and killpg. A process that kills another one of its run informs `safecopy run`
 * (report/roll.h), which then knows why that one's report has no end. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "report/roll.h"

#include "common/poison.h"

typedef int kill_function(pid_t pid, int number);

/* Is it a signal by which a process is usually ended, unless it handles the signal? */
static bool is_to_end(int number)
{
    return number == SIGTERM || number == SIGKILL || number == SIGINT || number == SIGHUP ||
           number == SIGQUIT || number == SIGABRT;
}

/* Tells `safecopy run` that this process is about to kill another one, whose report will have no
 * end. Before the signal, as afterwards the other's start time, by which it is known, may be gone.
 * Not for signals to itself, to its own group (0) or to all processes (-1). Another group is
 * recorded by its leader. */
static void note_killed(pid_t pid, int number)
{
    if (!sc_roll_is_there() || !is_to_end(number) || pid == 0 || pid == -1 || pid == getpid())
        return;
    sc_roll_note_killed(pid < 0 ? -pid : pid);
}

/* The hook of kill. */
SC_EXPORT int kill(pid_t pid, int number)
{
    note_killed(pid, number);
    return SC_NEXT(kill_function *, "kill")(pid, number);
}

/* The hook of killpg, which signals a group of processes. */
SC_EXPORT int killpg(pid_t group, int number)
{
    note_killed(group, number);
    return SC_NEXT(kill_function *, "killpg")(group, number);
}
