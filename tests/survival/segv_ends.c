// expect-exit: 0
//
// How a process ends by SIGSEGV, and how not: by its own fault under every action, nested, blocked,
// the second time; by one that is sent, at once or when it is unblocked. In processes of their own
// that have had pages guarded, and in forked children of one.
#include "process.h"
#include "signals.h"

#include <sys/resource.h>

static volatile char *nowhere;
static struct sigaction former;

static void say(int number)
{
    static const char text[] = "handler\n";
    (void)number;
    if (write(1, text, sizeof text - 1) < 0)
        _exit(3);
}

static void fault(void)
{
    *nowhere = 1;
}

static void fault_in_handler(int number)
{
    say(number);
    fault();
}

static void restore(int number)
{
    say(number);
    sigaction(number, &former, NULL);
}

static void block(void)
{
    sigset_t blocked = only(SIGSEGV);
    CHECK(pthread_sigmask(SIG_BLOCK, &blocked, NULL));
}

static void unblock(void)
{
    sigset_t blocked = only(SIGSEGV);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &blocked, NULL));
}

static void act(void (*handler)(int), int flags)
{
    CHECK(sigaction(SIGSEGV, NULL, &former));
    handle(SIGSEGV, handler, flags, only(0));
}

static void by_default(void)
{
    act(SIG_DFL, 0);
    fault();
}

static void ignored(void)
{
    act(SIG_IGN, 0);
    fault();
}

static void blocked(void)
{
    act(say, 0);
    block();
    fault();
}

static void blocked_by_default(void)
{
    act(SIG_DFL, 0);
    block();
    fault();
}

static void nested(void)
{
    act(fault_in_handler, 0);
    fault();
}

static void nested_on_stack(void)
{
    static char room[64 << 10];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    CHECK(sigaltstack(&stack, NULL));
    act(fault_in_handler, SA_ONSTACK);
    fault();
}

static void nested_in_sent(void)
{
    act(fault_in_handler, 0);
    kill(getpid(), SIGSEGV);
}

static void once(void)
{
    act(say, (int)SA_RESETHAND);
    fault();
}

static void restored(void)
{
    act(SIG_DFL, 0);
    act(restore, 0);
    fault();
}

static void restored_on_no_stack(void)
{
    act(SIG_DFL, 0);
    act(restore, SA_ONSTACK);
    fault();
}

static void blocked_by_other(void)
{
    act(say, 0);
    handle(SIGUSR1, fault_in_handler, 0, only(SIGSEGV));
    raise(SIGUSR1);
}

static void sent_by_default(void)
{
    act(SIG_DFL, 0);
    kill(getpid(), SIGSEGV);
    puts("still here");
}

static void raised_by_default(void)
{
    act(SIG_DFL, 0);
    raise(SIGSEGV);
    puts("still here");
}

static void sent_ignored(void)
{
    act(SIG_IGN, 0);
    kill(getpid(), SIGSEGV);
    raise(SIGSEGV);
    puts("still here");
}

static void sent_blocked(void)
{
    act(SIG_DFL, 0);
    block();
    raise(SIGSEGV);
    puts("still here");
    fflush(stdout);
    unblock();
    puts("here, too");
}

static void sent_twice_once(void)
{
    act(say, (int)SA_RESETHAND);
    raise(SIGSEGV);
    raise(SIGSEGV);
    puts("still here");
}

static void by_other_signal(void)
{
    handle(SIGBUS, SIG_DFL, 0, only(0));
    act(say, 0);
    raise(SIGBUS);
}

static const struct end {
    const char *name;
    void (*body)(void);
} ends[] = {
    {"default", by_default},
    {"ignored", ignored},
    {"blocked", blocked},
    {"blocked by default", blocked_by_default},
    {"blocked by another handler", blocked_by_other},
    {"nested", nested},
    {"nested on a stack", nested_on_stack},
    {"nested in one sent", nested_in_sent},
    {"once", once},
    {"restored", restored},
    {"restored on no stack", restored_on_no_stack},
    {"sent", sent_by_default},
    {"raised", raised_by_default},
    {"sent and ignored", sent_ignored},
    {"sent and blocked", sent_blocked},
    {"sent twice", sent_twice_once},
    {"SIGBUS", by_other_signal},
};

enum { ENDS = sizeof ends / sizeof *ends };

/* In a process of its own. */
static void end_process(size_t which)
{
    char number[8];
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        snprintf(number, sizeof number, "%zu", which);
        execl("/proc/self/exe", "segv_ends", number, (char *)NULL);
        _exit(3);
    }
    show_end(ends[which].name, child);
}

int main(int count, char **arguments)
{
    struct rlimit no_core = {0, 0};
    CHECK(setrlimit(RLIMIT_CORE, &no_core));
    nowhere = no_page();
    if (count == 1)
        for (size_t i = 0; i < ENDS; i++)
            end_process(i);
    edge_start();
    touch_beside("guarded");
    if (count > 1) {
        fflush(stdout);
        ends[atoi(arguments[1])].body();
        touch_beside("still here");
        return 0;
    }
    for (size_t i = 0; i < ENDS; i++)
        in_child(ends[i].name, ends[i].body, 0, false);
    return 0;
}
