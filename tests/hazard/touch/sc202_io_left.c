// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A signal handler leaves a read into pinned memory, and the read never comes back. The next copy
// into that memory is read too early.
#include "touch.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf before;
static volatile sig_atomic_t reading;

static void leave(int signal)
{
    (void)signal;
    if (reading)
        siglongjmp(before, 1);
}

static void read_until_alarm(void *into)
{
    struct itimerval soon = {{0, 20000}, {0, 20000}};
    int ends[2];
    CHECK(pipe(ends));
    signal(SIGALRM, leave);
    if (sigsetjmp(before, 1) == 0) {
        CHECK(setitimer(ITIMER_REAL, &soon, NULL));
        reading = 1;
        CHECK(read(ends[0], into, SMALL) + 1);
    }
    reading = 0;
    soon = (struct itimerval){{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &soon, NULL));
}

int main(void)
{
    unsigned char *target = pinned_block(SMALL, 0);
    read_until_alarm(target);
    return finish(fetch_and_peek(target));
}
