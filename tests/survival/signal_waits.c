// expect-exit: 0
// needs: kernel (sent SIGSEGV)
//
// SIGSEGV that is sent while it is blocked waits: sigpending tells of it, sigwait and its kin take
// it, and without them it comes when it is unblocked, in whatever way. So it is where it would
// kill. And the calls that block or unblock a signal while they wait.
#include "signals.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

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

/* ---- calls that wait for descriptors, under a mask of their own ---- */

static int ends[2]; /* of a pipe */

static int poll_under(const sigset_t *mask, bool is_ready)
{
    struct timespec at_once = {0, 0};
    struct timespec soon = {1, 0};
    struct pollfd read_end = {.fd = ends[0], .events = POLLIN};
    return ppoll(&read_end, 1, is_ready ? &at_once : &soon, mask);
}

static int select_under(const sigset_t *mask, bool is_ready)
{
    struct timespec at_once = {0, 0};
    struct timespec soon = {1, 0};
    fd_set in;
    FD_ZERO(&in);
    FD_SET(ends[0], &in);
    return pselect(ends[0] + 1, &in, NULL, NULL, is_ready ? &at_once : &soon, mask);
}

static int epoll_under(const sigset_t *mask, bool is_ready)
{
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(0);
    CHECK(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event));
    int result = epoll_pwait(set, &event, 1, is_ready ? 0 : 1000, mask);
    int saved = errno;
    close(set);
    errno = saved;
    return result;
}

static void show_wait(const char *who, int result)
{
    printf("  %s %d %s, got %d\n", who, result, result < 0 ? strerrorname_np(errno) : "", (int)got);
    show_mask("  then");
}

/* Handlers of both kinds change what they return to. */
static void note_and_block(int number, siginfo_t *info, void *context)
{
    sigset_t next = only(SIGUSR2);
    note(number, info, context);
    sigaddset(&next, SIGSEGV);
    put_mask(context, next);
}

static void wait_with(const char *name, int (*wait_under)(const sigset_t *mask, bool is_ready))
{
    sigset_t none = only(0);
    sigset_t fault = only(SIGSEGV);
    char byte = 0;
    puts(name);
    send("  let in");
    show_wait("for nothing", wait_under(&none, false));
    printf("  out of mask %lx, under %lx\n", interrupted, meanwhile);
    CHECK(write(ends[1], &byte, 1) != 1);
    send("  let in, ready");
    show_wait("for a byte", wait_under(&none, true));
    show_pending();
    set_mask(none);
    show_pending();
    got = 0;
    show_wait("blocked meanwhile", wait_under(&fault, true));
    touch_beside("  not blocked");
    CHECK(read(ends[0], &byte, 1) != 1);
    handle_info(SIGSEGV, note_and_block, 0, none);
    send("  handler changes the mask");
    show_wait("for nothing", wait_under(&none, false));
    set_mask(none);
    handle_info(SIGSEGV, note, 0, none);
    handle_info(SIGALRM, note, 0, none);
    got = 0;
    sigaddset(&fault, SIGALRM);
    set_mask(fault);
    CHECK(pthread_kill(pthread_self(), SIGALRM));
    show_wait("another signal", wait_under(&none, false));
    printf("  out of mask %lx, under %lx\n", interrupted, meanwhile);
    set_mask(none);
}

static void wait_for_descriptors(void)
{
    CHECK(pipe(ends));
    wait_with("ppoll", poll_under);
    wait_with("pselect", select_under);
    wait_with("epoll_pwait", epoll_under);
    close(ends[0]);
    close(ends[1]);
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
    wait_for_descriptors();
    hold_and_release();
    wait_in_thread();
    cancel_in_wait();
}

int main(void)
{
    puts("-- before anybody asked for SIGSEGV");
    take();
    edge_start();
    all("before a page was guarded");
    touch_beside("guarded");
    all("after");
    return 0;
}
