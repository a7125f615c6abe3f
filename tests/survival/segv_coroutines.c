// expect-exit: 0
//
// Coroutines on stacks that lie lower and lower, in each of which a fault is recovered from: by a
// jump to the scheduler, by entering its context, by going to the next coroutine out of the
// handler, and by a handler that comes back to its own one later.
#include "signals.h"

enum { STACKS = 4, STACK_BYTES = 256 << 10 };

static sigjmp_buf back;
static ucontext_t scheduler, coroutines[STACKS], interrupted;
static char *stacks;
static volatile char *nowhere;
static volatile int faults, running;

static void jump(int number)
{
    (void)number;
    faults++;
    siglongjmp(back, 1);
}

static void enter(int number)
{
    (void)number;
    faults++;
    setcontext(&scheduler);
}

/* Where the coroutine goes on the fault is gone. */
static void leave_and_return(int number)
{
    (void)number;
    faults++;
    CHECK(mprotect((void *)(uintptr_t)nowhere, PAGE, PROT_READ | PROT_WRITE));
    CHECK(swapcontext(&interrupted, &scheduler));
    printf("back in the handler of %d, mask %lx\n", running, mask_now());
}

static void body(void)
{
    *nowhere = (char)running;
    printf("coroutine %d is over\n", running);
}

static void make(int which)
{
    ucontext_t *made = &coroutines[which];
    CHECK(getcontext(made));
    made->uc_stack.ss_sp = stacks + (size_t)which * STACK_BYTES;
    made->uc_stack.ss_size = STACK_BYTES;
    made->uc_link = &scheduler;
    makecontext(made, body, 0);
    running = which;
}

static void run(const char *who, void (*handler)(int), int flags)
{
    printf("-- %s\n", who);
    handle(SIGSEGV, handler, flags, only(SIGUSR2));
    for (int i = STACKS - 1; i >= 0; i--) {
        make(i);
        if (sigsetjmp(back, 1) == 0)
            CHECK(swapcontext(&scheduler, &coroutines[i]));
        printf("after fault %d: mask %lx\n", faults, mask_now());
        touch_beside(who);
    }
}

static void run_interrupted(void)
{
    handle(SIGSEGV, leave_and_return, 0, only(SIGUSR2));
    for (int i = STACKS - 1; i >= 0; i--) {
        make(i);
        CHECK(swapcontext(&scheduler, &coroutines[i]));
        printf("left its handler, mask %lx\n", mask_now());
        touch_beside("left");
        CHECK(swapcontext(&scheduler, &interrupted));
        printf("coroutine ended, mask %lx\n", mask_now());
        CHECK(mprotect((void *)(uintptr_t)nowhere, PAGE, PROT_NONE));
    }
}

int main(void)
{
    nowhere = no_page();
    stacks = mmap(NULL, (size_t)STACKS * STACK_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    edge_start();
    run("jumps", jump, 0);
    run("jumps, not deferred", jump, SA_NODEFER);
    run("enters", enter, 0);
    run_interrupted();
    return 0;
}
