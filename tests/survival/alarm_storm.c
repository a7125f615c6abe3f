// expect-exit: 0
//
// A signal every millisecond while copies run. System calls of the program are interrupted as they
// always are; CUDA calls never fail for it, and errno is the program's own.
#include "survival.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t alarms;

static void count(int number)
{
    int kept = errno;
    (void)number;
    alarms++;
    errno = kept;
}

int main(void)
{
    struct sigaction action = {.sa_handler = count}; /* no SA_RESTART */
    struct itimerval every = {{0, 1000}, {0, 1000}};
    struct itimerval never = {{0, 0}, {0, 0}};
    struct timespec long_nap = {0, 200000000};
    int wrong = 0;
    use_cuda("before");
    CHECK(sigaction(SIGALRM, &action, NULL));
    CHECK(setitimer(ITIMER_REAL, &every, NULL));
    for (int i = 0; i < 40; i++) {
        wrong += !round_trip((size_t)256 << 10);
        churn(100);
    }
    int napped = nanosleep(&long_nap, NULL);
    int why = errno;
    CHECK(setitimer(ITIMER_REAL, &never, NULL));
    printf("nap interrupted: %d\n", napped == -1 && why == EINTR);
    printf("alarms: %s, wrong: %d\n", alarms > 0 ? "some" : "none", wrong);
    return 0;
}
