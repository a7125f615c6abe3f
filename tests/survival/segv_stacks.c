// expect-exit: 0
// needs: kernel (SS_AUTODISARM)
//
// The handler of a fault runs on the stack that the kernel would have chosen: the thread's own
// unless the action says otherwise, however small an alternate one there is; there with
// SA_ONSTACK, on what is left of it when it is in use already; and SS_AUTODISARM takes it away.
#include "signals.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

enum { DEEP = 64 << 10, SMALL = 8 << 10, LARGE = 64 << 10 };

static sigjmp_buf back;
static char *alternate;
static size_t alternate_bytes;
static volatile char *nowhere;
static volatile int depth;

static const char *place(void)
{
    char here;
    char *at = &here;
    return at >= alternate && at < alternate + alternate_bytes ? "alternate" : "own";
}

static void say(const char *who)
{
    stack_t stack;
    CHECK(sigaltstack(NULL, &stack));
    printf("%s: on the %s stack, flags %x, size %zu\n", who, place(), (unsigned)stack.ss_flags,
           stack.ss_size);
}

/* Below a page that nobody may touch. */
static void set_alternate(size_t size_bytes, int flags)
{
    char *area =
        mmap(NULL, PAGE + size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(area == MAP_FAILED || mprotect(area, PAGE, PROT_NONE));
    alternate = area + PAGE;
    alternate_bytes = size_bytes;
    stack_t stack = {.ss_sp = alternate, .ss_size = size_bytes, .ss_flags = flags};
    CHECK(sigaltstack(&stack, NULL));
}

static __attribute__((noinline)) void use(volatile char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i += 512)
        bytes[i] = 1;
}

static void recover(int number)
{
    (void)number;
    say("recovering");
    siglongjmp(back, 1);
}

static void recover_deeply(int number)
{
    volatile char frame[DEEP];
    use(frame, sizeof frame);
    recover(number);
}

/* A fault in the handler of a fault, which the action lets through. */
static void fault_again(int number)
{
    (void)number;
    say("nested");
    if (depth++ < 2)
        *nowhere = 1;
    siglongjmp(back, 1);
}

static void fault_in_other(int number)
{
    (void)number;
    say("handling SIGUSR1");
    if (sigsetjmp(back, 1) == 0)
        *nowhere = 1;
    say("handling SIGUSR1 still");
}

/* The alternate stack may be changed where it is not in use. */
static void change_alternate(int number)
{
    stack_t none = {.ss_flags = SS_DISABLE};
    (void)number;
    int result = sigaltstack(&none, NULL);
    printf("changing it: %d %s\n", result, result ? strerrorname_np(errno) : "");
    siglongjmp(back, 1);
}

static void fault(const char *who)
{
    printf("-- %s\n", who);
    depth = 0;
    for (int i = 0; i < 3; i++)
        if (sigsetjmp(back, 1) == 0)
            *nowhere = 1;
    say("after");
    touch_beside(who);
}

static void all(void)
{
    sigset_t none = only(0);
    handle(SIGSEGV, recover, SA_ONSTACK, none);
    fault("no alternate stack");
    set_alternate(SMALL, 0);
    handle(SIGSEGV, recover_deeply, 0, none);
    fault("a small one, not asked for");
    handle(SIGSEGV, fault_again, SA_NODEFER, none);
    fault("nested, not asked for");
    set_alternate(LARGE, 0);
    handle(SIGSEGV, recover, SA_ONSTACK, none);
    fault("asked for");
    handle(SIGSEGV, fault_again, SA_ONSTACK | SA_NODEFER, none);
    fault("nested, asked for");
    handle(SIGUSR1, fault_in_other, SA_ONSTACK, none);
    handle(SIGSEGV, recover, SA_ONSTACK, none);
    raise(SIGUSR1);
    handle(SIGSEGV, recover, 0, none);
    raise(SIGUSR1);
    handle(SIGUSR1, fault_in_other, 0, none);
    handle(SIGSEGV, recover, SA_ONSTACK, none);
    raise(SIGUSR1);
    handle(SIGSEGV, change_alternate, SA_ONSTACK, none);
    fault("changed while in use");
    handle(SIGSEGV, change_alternate, 0, none);
    fault("changed while not in use");
    set_alternate(LARGE, (int)SS_AUTODISARM);
    handle(SIGSEGV, recover, SA_ONSTACK, none);
    fault("disarmed");
    set_alternate(LARGE, (int)SS_AUTODISARM);
    handle(SIGSEGV, recover, 0, none);
    fault("disarmed, not asked for");
    set_alternate(LARGE, (int)SS_AUTODISARM);
    handle(SIGSEGV, fault_again, SA_ONSTACK | SA_NODEFER, none);
    fault("nested, disarmed");
    stack_t disable = {.ss_flags = SS_DISABLE};
    CHECK(sigaltstack(&disable, NULL));
}

static void *in_thread(void *unused)
{
    (void)unused;
    all();
    return NULL;
}

int main(void)
{
    pthread_t thread;
    nowhere = no_page();
    edge_start();
    all();
    CHECK(pthread_create(&thread, NULL, in_thread, NULL));
    CHECK(pthread_join(thread, NULL));
    use_cuda("after");
    return 0;
}
