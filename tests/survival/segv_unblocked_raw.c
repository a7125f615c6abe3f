// expect-exit: 0
// needs: kernel (raw system calls)
//
// SIGSEGV is blocked by the C library around pthread_create, and unblocked in the new thread by a
// system call of the program's own, as Go's runtime does it: a fault there, and a SIGSEGV that is
// sent, get to the program's handler. The same in a handler whose mask has SIGSEGV, when a page has
// been guarded before, and where the thread has touched a guarded page first, or has had handlers
// of other signals, one at a time or two at once.
#include "raw_mask.h"

static sigjmp_buf out;
static volatile int got;

static void leave(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

static void count(int number)
{
    (void)number;
    got++;
}

static void fault(const char *when)
{
    handle(SIGSEGV, leave, SA_NODEFER, only(0));
    if (!sigsetjmp(out, 0)) {
        *no_page() = 1;
        puts("not reached");
    }
    printf("%s: recovered, mask %lx\n", when, mask_now());
}

static void receive(const char *when)
{
    handle(SIGSEGV, count, 0, only(0));
    got = 0;
    for (int i = 0; i < 10; i++)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSEGV);
    printf("%s: got %d\n", when, got);
}

static void nothing(void)
{
}

static void touch(void)
{
    (*(volatile unsigned char *)beside.block)++;
}

static void raise_one(void)
{
    handle(SIGUSR1, count, 0, every());
    raise(SIGUSR1);
}

static void raise_two(void)
{
    handle(SIGUSR1, count, 0, every());
    handle(SIGUSR2, count, 0, only(SIGHUP));
    raw_set_mask(1UL << (SIGUSR1 - 1) | 1UL << (SIGUSR2 - 1));
    raw_call(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1, 0);
    raw_call(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR2, 0);
    raw_set_mask(0);
}

struct thread {
    const char *when;
    void (*first)(void);
};

static void *in_thread(void *argument)
{
    const struct thread *thread = argument;
    raw_set_mask(0);
    thread->first();
    fault(thread->when);
    receive(thread->when);
    return NULL;
}

static void start_blocked(const char *when, void (*first)(void))
{
    pthread_t started;
    struct thread thread = {when, first};
    sigset_t all = every(), before;
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before));
    CHECK(pthread_create(&started, NULL, in_thread, &thread));
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL));
    CHECK(pthread_join(started, NULL));
}

static void in_handler(int number)
{
    (void)number;
    raw_set_mask(0);
    fault("in a handler");
    receive("in a handler");
}

int main(void)
{
    edge_start();
    start_blocked("before", nothing);
    hold();
    start_blocked("behind a touch", touch);
    release();
    start_blocked("after", nothing);
    start_blocked("behind a handler", raise_one);
    start_blocked("behind two", raise_two);
    handle(SIGUSR1, in_handler, 0, every());
    raise(SIGUSR1);
    show_mask("behind the handler");
    touch_beside("main");
    return 0;
}
