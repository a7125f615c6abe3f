// expect-exit: 0
//
// What a handler is told is what the kernel says: of signals that are sent in every way, of faults
// on pages of the program's own, and on one that is guarded and that the program then took away.
// And what it finds in the interrupted context, and in its own mask.
#include "signals.h"

#include <sys/syscall.h>

static sigjmp_buf back;
static volatile char *fault_at;
static volatile bool recovers;

static void note(int number, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;
    printf("  signal %d, si_signo %d, code %d, errno %d, mask %lx, interrupted %lx", number,
           info->si_signo, info->si_code, info->si_errno, mask_now(),
           bits_of(&interrupted->uc_sigmask));
    if (info->si_code <= 0)
        printf(", from %s, value %d\n", info->si_pid == getpid() ? "us" : "others",
               info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
    else
        printf(", address %s\n", info->si_addr == (void *)(uintptr_t)fault_at ? "right" : "wrong");
#ifdef __x86_64__
    if (info->si_code > 0)
        printf("  trap %lld, error %llx\n", interrupted->uc_mcontext.gregs[REG_TRAPNO],
               interrupted->uc_mcontext.gregs[REG_ERR]);
#endif
    if (recovers)
        siglongjmp(back, 1);
}

static void send(int number)
{
    union sigval value = {.sival_int = 42};
    recovers = false;
    printf("sending %d\n", number);
    CHECK(kill(getpid(), number));
    CHECK(raise(number));
    CHECK(pthread_kill(pthread_self(), number));
    CHECK(sigqueue(getpid(), number, value));
    CHECK(pthread_sigqueue(pthread_self(), number, value));
    CHECK(syscall(SYS_kill, getpid(), number));
}

static void fault(const char *who, volatile char *address, bool write)
{
    recovers = true;
    fault_at = address;
    printf("%s, %s\n", who, write ? "written" : "read");
    if (sigsetjmp(back, 1) == 0) {
        if (write)
            *address = 1;
        else
            (void)*address;
        puts("  no fault");
    }
}

static void fault_on(const char *who, volatile char *address)
{
    fault(who, address, false);
    fault(who, address, true);
}

static volatile char *beyond_end(void)
{
    FILE *empty = tmpfile();
    void *page =
        empty ? mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(empty), 0) : MAP_FAILED;
    if (page == MAP_FAILED)
        _exit(3);
    return page;
}

/* The program's own protection counts on a page that a copy in flight shares, too. */
static void protect_guarded(void)
{
    volatile char *edge = (volatile char *)beside.block;
    hold();
    CHECK(mprotect(beside.block, PAGE, PROT_NONE));
    fault_on("guarded, taken away", edge);
    CHECK(mprotect(beside.block, PAGE, PROT_READ));
    fault_on("guarded, read only", edge + 8);
    CHECK(mprotect(beside.block, PAGE, PROT_READ | PROT_WRITE));
    fault_on("guarded, given back", edge + 16);
    release();
}

static void all(const char *when)
{
    static const int flags[] = {0, SA_NODEFER, SA_RESTART, SA_ONSTACK};
    volatile char *none = no_page();
    volatile char *constant = no_page();
    CHECK(mprotect((void *)(uintptr_t)constant, PAGE, PROT_READ));
    printf("-- %s\n", when);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        handle_info(SIGSEGV, note, flags[i], only(i & 1 ? SIGUSR2 : 0));
        handle_info(SIGBUS, note, flags[i], only(SIGSEGV));
        handle_info(SIGUSR1, note, flags[i], only(i & 2 ? SIGSEGV : 0));
        send(SIGSEGV);
        send(SIGBUS);
        send(SIGUSR1);
        fault_on("no page", none + 3);
        fault_on("a constant", constant);
        fault_on("nothing", (volatile char *)(uintptr_t)16);
        fault("beyond the end of a file", beyond_end(), true);
        show_mask("at last");
    }
    printf("with others blocked\n");
    set_mask(only(SIGUSR2));
    send(SIGSEGV);
    fault_on("no page", none);
    set_mask(only(0));
}

int main(void)
{
    edge_start();
    all("before a page was guarded");
    touch_beside("guarded");
    all("after");
    hold();
    all("while one is");
    release();
    handle_info(SIGSEGV, note, 0, only(0));
    protect_guarded();
    use_cuda("after");
    return 0;
}
