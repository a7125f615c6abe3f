// expect-exit: 0
//
// Blocked signals, SIGSEGV among them, are reported by the mask calls as they were set, and
// inherited by threads; a blocked signal is delivered when it is unblocked and not before.
#include "survival.h"

#include <pthread.h>
#include <signal.h>

static volatile sig_atomic_t delivered;

static void note(int number)
{
    delivered = number;
}

static void *show_mask(void *who)
{
    sigset_t mask;
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask));
    printf("%s: SEGV %d USR1 %d USR2 %d\n", (const char *)who, sigismember(&mask, SIGSEGV),
           sigismember(&mask, SIGUSR1), sigismember(&mask, SIGUSR2));
    return NULL;
}

int main(void)
{
    pthread_t thread;
    sigset_t some;
    char main_thread[] = "main";
    char other_thread[] = "thread";
    sigemptyset(&some);
    sigaddset(&some, SIGSEGV);
    sigaddset(&some, SIGUSR1);
    use_cuda("before");
    signal(SIGUSR1, note);
    SHOW(pthread_sigmask(SIG_BLOCK, &some, NULL));
    show_mask(main_thread);
    CHECK(pthread_create(&thread, NULL, show_mask, other_thread));
    pthread_join(thread, NULL);
    raise(SIGUSR1);
    use_cuda("blocked");
    SHOW(delivered);
    SHOW(sigprocmask(SIG_UNBLOCK, &some, NULL));
    SHOW(delivered == SIGUSR1);
    show_mask(main_thread);
    return 0;
}
