// expect-exit: 0
// needs: kernel (sent SIGSEGV)
//
// SIGSEGV that is sent while it is blocked waits: sigpending tells of it, sigwait and its kin take
// it, and without them it comes when it is unblocked, in whatever way. And the calls
// that block or unblock a signal while they wait.
#include "signals.h"

static volatile sig_atomic_t got, code;
static volatile unsigned long interrupted, meanwhile; /* masks */

static void note(int number, siginfo_t *info, void *context)
{
    interrupted = bits_of(&((ucontext_t *)context)->uc_sigmask);
    meanwhile = mask_now();
    got = number;
    code = info->si_code;
}

static void show_pending(void)
{
    sigset_t pending;
    CHECK(sigpending(&pending));
    printf("  pending %lx, got %d, code %d\n", bits_of(&pending), (int)got, (int)code);
}

static void send(const char *who)
{
    union sigval value = {.sival_int = 7};
    got = 0;
    code = 0;
    set_mask(only(SIGSEGV));
    CHECK(pthread_sigqueue(pthread_self(), SIGSEGV, value));
    puts(who);
    show_pending();
}

static void show_taken(int number, const siginfo_t *info)
{
    printf("  taken %d", number);
    if (number > 0 && info)
        printf(", code %d, value %d", info->si_code, info->si_value.sival_int);
    puts("");
    show_pending();
}

static void take(void)
{
    struct timespec soon = {0, 1000};
    sigset_t fault = only(SIGSEGV);
    siginfo_t info;
    int number = 0;
    send("sigwait");
    CHECK(sigwait(&fault, &number));
    show_taken(number, NULL);
    send("sigwaitinfo");
    number = sigwaitinfo(&fault, &info);
    show_taken(number, &info);
    send("sigtimedwait");
    number = sigtimedwait(&fault, &info, &soon);
    show_taken(number, &info);
    number = sigtimedwait(&fault, &info, &soon);
    printf("  nothing: %d %s\n", number, strerrorname_np(errno));
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void unblock_each(void)
{
    sigset_t none = only(0);
    sigset_t fault = only(SIGSEGV);
    sigjmp_buf environment;
    ucontext_t context;
    volatile bool again = false;
    send("SIG_UNBLOCK");
    CHECK(sigprocmask(SIG_UNBLOCK, &fault, NULL));
    show_pending();
    send("SIG_SETMASK");
    CHECK(pthread_sigmask(SIG_SETMASK, &none, NULL));
    show_pending();
    send("sigrelse");
    CHECK(sigrelse(SIGSEGV));
    show_pending();
    send("sigsetmask");
    sigsetmask(0);
    show_pending();
    send("sigsuspend");
    printf("  %d %s\n", sigsuspend(&none), strerrorname_np(errno));
    printf("  out of mask %lx, under %lx\n", interrupted, meanwhile);
    show_pending();
    set_mask(none);
    if (sigsetjmp(environment, 1) == 0) {
        send("siglongjmp");
        siglongjmp(environment, 1);
    }
    show_pending();
    CHECK(getcontext(&context));
    if (!again) {
        again = true;
        send("setcontext");
        setcontext(&context);
    }
    show_pending();
    send("ignored meanwhile");
    handle(SIGSEGV, SIG_IGN, 0, only(0));
    handle_info(SIGSEGV, note, 0, only(0));
    set_mask(none);
    show_pending();
}

static void show_masks(int number, siginfo_t *info, void *context)
{
    note(number, info, context);
    printf("  %d out of mask %lx, under %lx\n", number, interrupted, meanwhile);
}

/* Of two that are pending the later one interrupts the handler of the first, before it has begun.
 */
static void suspend_for_both(void)
{
    sigset_t none = only(0);
    sigset_t both = only(SIGSEGV);
    sigaddset(&both, SIGILL);
    puts("sigsuspend for two");
    handle_info(SIGILL, show_masks, 0, only(SIGUSR2));
    handle_info(SIGSEGV, show_masks, 0, only(SIGUSR1));
    set_mask(both);
    CHECK(pthread_kill(pthread_self(), SIGSEGV));
    CHECK(pthread_kill(pthread_self(), SIGILL));
    sigsuspend(&none);
    show_mask("  back");
    set_mask(none);
    handle_info(SIGSEGV, note, 0, none);
}

static void hold_and_release(void)
{
    puts("sighold");
    CHECK(sighold(SIGSEGV));
    CHECK(sighold(SIGUSR1));
    show_mask("held");
    got = 0;
    raise(SIGUSR1);
    printf("  got %d\n", (int)got);
    CHECK(sigrelse(SIGUSR1));
    printf("  got %d\n", (int)got);
    show_mask("SIGUSR1 released");
    touch_beside("held");
    CHECK(sighold(SIGUSR1));
    raise(SIGUSR1);
    got = 0;
    printf("  sigpause %d %s, got %d\n", sigpause(SIGUSR1), strerrorname_np(errno), (int)got);
    show_mask("paused");
    CHECK(sigrelse(SIGUSR1));
    CHECK(sigrelse(SIGSEGV));
    show_mask("released");
}

static void *wait_for_fault(void *ready)
{
    sigset_t fault = only(SIGSEGV);
    int number = 0;
    pthread_barrier_wait(ready);
    CHECK(sigwait(&fault, &number));
    printf("thread took %d\n", number);
    return NULL;
}

/* A thread that waits for those that are sent to it, before and while it does. (The driver's
 * threads take what is sent to the process.) */
static void wait_in_thread(void)
{
    pthread_barrier_t ready;
    pthread_t thread;
    set_mask(only(SIGSEGV));
    CHECK(pthread_barrier_init(&ready, NULL, 2));
    CHECK(pthread_create(&thread, NULL, wait_for_fault, &ready));
    pthread_barrier_wait(&ready);
    CHECK(pthread_kill(thread, SIGSEGV));
    CHECK(pthread_join(thread, NULL));
    CHECK(pthread_create(&thread, NULL, wait_for_fault, &ready));
    pthread_barrier_wait(&ready);
    usleep(20000);
    CHECK(pthread_kill(thread, SIGSEGV));
    CHECK(pthread_join(thread, NULL));
    show_pending();
    set_mask(only(0));
}

static void say_ended(void *unused)
{
    (void)unused;
    puts("thread ends");
}

static void *wait_to_be_cancelled(void *ready)
{
    pthread_cleanup_push(say_ended, NULL);
    wait_for_fault(ready);
    pthread_cleanup_pop(0);
    return NULL;
}

/* Before and while it waits. */
static void cancel_in_wait(void)
{
    pthread_barrier_t ready;
    pthread_t thread;
    set_mask(only(SIGSEGV));
    CHECK(pthread_barrier_init(&ready, NULL, 2));
    for (int waits = 0; waits < 2; waits++) {
        void *result = NULL;
        CHECK(pthread_create(&thread, NULL, wait_to_be_cancelled, &ready));
        pthread_barrier_wait(&ready);
        if (waits)
            usleep(20000);
        CHECK(pthread_cancel(thread));
        CHECK(pthread_join(thread, &result));
        printf("cancelled: %d\n", result == PTHREAD_CANCELED);
    }
    set_mask(only(0));
}

static void all(const char *when)
{
    printf("-- %s\n", when);
    handle_info(SIGSEGV, note, 0, only(0));
    handle_info(SIGUSR1, note, 0, only(0));
    take();
    unblock_each();
    suspend_for_both();
    hold_and_release();
    wait_in_thread();
    cancel_in_wait();
}

int main(void)
{
    edge_start();
    all("before a page was guarded");
    touch_beside("guarded");
    all("after");
    return 0;
}
