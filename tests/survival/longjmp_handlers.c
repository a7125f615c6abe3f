// expect-exit: 0
//
// longjmp and siglongjmp out of signal handlers that interrupt the heap-free parts of a program
// between CUDA calls, some hundred times. Nothing may count on a handler to return.
#include "survival.h"

#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;

static void jump(int number)
{
    siglongjmp(back, number);
}

static void jump_from(int number)
{
    if (sigsetjmp(back, 1) == 0) {
        raise(number);
        puts("not reached");
    }
}

int main(void)
{
    sigset_t pending;
    struct sigaction action = {.sa_handler = jump};
    CHECK(sigaction(SIGUSR1, &action, NULL));
    CHECK(sigaction(SIGFPE, &action, NULL));
    for (int i = 0; i < 200; i++) {
        jump_from(SIGUSR1);
        free(malloc(1000));
        jump_from(SIGFPE);
        if (i % 50 == 0)
            use_cuda("between jumps");
    }
    SHOW(sigpending(&pending));
    SHOW(sigismember(&pending, SIGUSR1));
    return 0;
}
