// run: -> cupti.state=unused
// run: strict=1 -> cupti.state=listening
// run: strict=1 SIM_CUPTI=later -> cupti.state=listening
// run: mode=report -> cupti.state=listening
// run: cupti=require:guard=off -> cupti.state=listening
// run: timeline=1 -> timeline.state=listening
// needs: sim
/* CUPTI's threads take no signal that is sent to the process. The program has one thread, which
 * blocks a signal when CUDA is up, and takes it by sigwaitinfo and from a signalfd: any other
 * thread would die of it. (The real driver's threads would. The simulated one's block signals.) */
#include "profiler.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { TIMES = 100 };

int main(void)
{
    sigset_t set;
    struct signalfd_siginfo info;
    set_up();
    copy();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    int fd = signalfd(-1, &set, 0);
    for (int i = 0; i < TIMES; i++) {
        CHECK(kill(getpid(), SIGUSR1) == 0);
        CHECK(sigwaitinfo(&set, NULL) == SIGUSR1);
        CHECK(kill(getpid(), SIGUSR1) == 0);
        copy();
        CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1);
    }
    return 0;
}
