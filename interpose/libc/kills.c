/* Who ends other processes of a run knows why their reports have no end: `safecopy run` is told
 * (report/roll.h), and does not call them unknown. */
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "report/roll.h"

#include "common/poison.h"

typedef int kill_function(pid_t pid, int number);

/* Those that people send to end a process, and that end it unless it does something else. */
static bool is_to_end(int number)
{
    return number == SIGTERM || number == SIGKILL || number == SIGINT || number == SIGHUP ||
           number == SIGQUIT || number == SIGABRT;
}

/* Before the signal is sent: afterwards nobody may know when the process began. A group is noted by
 * its leader. */
static void note(pid_t pid, int number)
{
    if (!sc_roll_is_there() || !is_to_end(number) || pid == 0 || pid == -1 || pid == getpid())
        return;
    sc_roll_note_killed(pid < 0 ? -pid : pid);
}

SC_EXPORT int kill(pid_t pid, int number)
{
    note(pid, number);
    return SC_NEXT(kill_function *, "kill")(pid, number);
}

SC_EXPORT int killpg(pid_t group, int number)
{
    note(group, number);
    return SC_NEXT(kill_function *, "killpg")(group, number);
}
