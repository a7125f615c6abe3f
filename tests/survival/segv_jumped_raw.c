// expect-exit: 0
// needs: kernel (raw system calls)
//
// A handler of SIGSEGV is left by a jump that keeps no mask, and the program unblocks SIGSEGV by a
// system call of its own. Nothing else is blocked, so nobody can see it: the next fault gets to the
// handler all the same. On the main thread and on one that begins with all signals blocked, beside
// copies in flight and without.
#include "raw_mask.h"

static sigjmp_buf out;
static volatile char *nowhere;

static void leave(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

static void set_none(void)
{
    raw_set_mask(0);
}

static void unblock_one(void)
{
    unsigned long fault = 1UL << (SIGSEGV - 1);
    raw_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&fault, 0, sizeof fault);
}

static void recover(const char *who, void (*unblock)(void))
{
    volatile int recovered = 0;
    for (volatile int i = 0; i < 5; i++) {
        if (!sigsetjmp(out, 0))
            *nowhere = 1;
        else
            recovered++;
        unblock();
    }
    printf("%s: recovered %d times\n", who, recovered);
}

static void recover_beside(const char *who, void (*unblock)(void))
{
    hold();
    recover(who, unblock);
    (*(volatile unsigned char *)beside.block)++;
    recover(who, unblock);
    release();
    recover(who, unblock);
}

static void *in_thread(void *unused)
{
    raw_set_mask(0);
    recover_beside("thread, mask set", set_none);
    recover_beside("thread, unblocked", unblock_one);
    return unused;
}

int main(void)
{
    pthread_t thread;
    sigset_t all = every(), before;
    edge_start();
    nowhere = no_page();
    handle(SIGSEGV, leave, 0, only(0));
    recover("before", set_none);
    recover_beside("main, mask set", set_none);
    recover_beside("main, unblocked", unblock_one);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before));
    CHECK(pthread_create(&thread, NULL, in_thread, NULL));
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL));
    CHECK(pthread_join(thread, NULL));
    handle(SIGSEGV, leave, 0, every());
    recover("every signal blocked in the handler", set_none);
    show_mask("main");
    return 0;
}
