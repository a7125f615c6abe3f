// expect-exit: 0
// timeout: 120
//
// SIGTRAP is the program's, whatever it reads beside a copy: its action reads back as it was set,
// its handler gets its own traps and no other, blocked ones stay pending, and without a handler a
// trap kills. So it is while another thread reads beside a copy all the time.
#include "signals.h"

#include <sys/wait.h>

enum { ROUNDS = 2000 };

static _Atomic int traps, last_code;

static void count(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    atomic_store(&last_code, info->si_code);
    atomic_fetch_add(&traps, 1);
}

static void set_handler(bool on)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    if (on) {
        action.sa_sigaction = count;
        action.sa_flags = SA_SIGINFO;
    }
    CHECK(sigaction(SIGTRAP, &action, NULL));
}

static const char *handler_now(void)
{
    struct sigaction found;
    CHECK(sigaction(SIGTRAP, NULL, &found));
    if (found.sa_flags & SA_SIGINFO)
        return found.sa_sigaction == count ? "the handler" : "another one";
    return found.sa_handler == SIG_DFL ? "default" : "ignored";
}

/* The page is kept guarded, but for the one instruction. */
static void read_beside(const char *who)
{
    hold();
    for (int i = 0; i < 10; i++)
        (void)*(volatile unsigned char *)beside.block;
    release();
    printf("%s: read beside a copy\n", who);
}

static void show(const char *when)
{
    printf("%s: %s, %d traps\n", when, handler_now(), atomic_load(&traps));
}

static void trap(void)
{
#if defined(__x86_64__)
    __asm__ volatile("int3");
#else
    raise(SIGTRAP);
#endif
}

/* ---- one thread ---- */

static void with_handler(void)
{
    set_handler(true);
    read_beside("with a handler");
    show("behind the touch");
    raise(SIGTRAP);
    trap();
    show("behind two");
    set_handler(false);
    read_beside("without");
    show("behind the touch");
}

static void blocked(void)
{
    sigset_t pending;
    set_handler(true);
    set_mask(only(SIGTRAP));
    read_beside("blocked");
    raise(SIGTRAP);
    read_beside("pending");
    CHECK(sigpending(&pending));
    printf("pending: %d, %d traps\n", sigismember(&pending, SIGTRAP), atomic_load(&traps));
    set_mask(only(0));
    show("unblocked");
    set_handler(false);
}

static void dies(void)
{
    int status = 0;
    read_beside("before the fork");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        trap();
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("the child: signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* ---- two threads ---- */

static _Atomic bool stops;

static void *read_all_the_time(void *unused)
{
    (void)unused;
    while (!atomic_load(&stops)) {
        hold();
        for (int i = 0; i < 100; i++)
            (void)*(volatile unsigned char *)beside.block;
        release();
    }
    return NULL;
}

static void beside_another_thread(void)
{
    pthread_t reader;
    int wrong = 0, before = atomic_load(&traps);
    CHECK(pthread_create(&reader, NULL, read_all_the_time, NULL));
    for (int i = 0; i < ROUNDS; i++) {
        set_handler(true);
        wrong += strcmp(handler_now(), "the handler") != 0;
        trap();
        set_handler(false);
        wrong += strcmp(handler_now(), "default") != 0;
    }
    atomic_store(&stops, true);
    pthread_join(reader, NULL);
    printf("of %d traps %d came, %d times it read back wrong\n", ROUNDS,
           atomic_load(&traps) - before, wrong);
}

/* ---- the program steps itself ---- */

static void steps_itself(void)
{
#if defined(__x86_64__)
    int before = atomic_load(&traps);
    set_handler(true);
    hold();
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\t"
                     "movb (%0), %%al\n\tnop\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq"
                     :
                     : "r"(beside.block)
                     : "rax", "cc", "memory");
    release();
    printf("it has stepped itself: %d traps\n", atomic_load(&traps) - before);
    set_handler(false);
#endif
}

int main(void)
{
    edge_start();
    show("at first");
    read_beside("at first");
    show("behind the touch");
    with_handler();
    blocked();
    dies();
    beside_another_thread();
    steps_itself();
    show("in the end");
    return 0;
}
