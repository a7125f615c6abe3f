// expect-exit: 0
// strict-says: a thread has SIGSEGV blocked
//
// Signals of faults that are sent to the process, whose threads all block them and wait for them
// (but SIGBUS, for which the simulated driver opens threads of its own):
// no thread of the library's may take one, which has none of the program's handlers and dies of it.
#include "signals.h"

#include <time.h>

static const int numbers[] = {SIGILL, SIGTRAP, SIGFPE, SIGSEGV, SIGSYS};

enum { ROUNDS = 5 };

static void send_and_take(int number)
{
    const struct timespec at_once = {0, 0};
    sigset_t one, pending;
    int seen = 0;
    int taken = 0;
    sigemptyset(&one);
    sigaddset(&one, number);
    for (int i = 0; i < ROUNDS; i++) {
        hold();
        kill(getpid(), number);
        usleep(2000); /* a thread of the library's is at work, and sleeps again */
        sigpending(&pending);
        seen += sigismember(&pending, number);
        taken += sigtimedwait(&one, NULL, &at_once) == number;
        release();
    }
    printf("%s: %d pending, %d taken\n", strsignal(number), seen, taken);
}

int main(void)
{
    sigset_t all;
    sigfillset(&all);
    CHECK(sigprocmask(SIG_BLOCK, &all, NULL));
    edge_start();
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        send_and_take(numbers[i]);
    return 0;
}
