// expect-exit: 0
//
// Masks that come with a context: of one that is made, left and entered again, of the one
// that a handler interrupts and returns to, and of jumps with and without a mask. All of them may
// block SIGSEGV, and memory beside a copy is touched all the same.
#include "signals.h"

static ucontext_t outer, inner, again;
static char stack[64 << 10];
static volatile int turns;
static sigset_t wanted;

static void body(void)
{
    show_mask("in the context");
    touch_beside("in the context");
    CHECK(swapcontext(&inner, &outer));
    show_mask("in the context once more");
    touch_beside("in the context once more");
}

static void make_and_run(sigset_t mask)
{
    CHECK(getcontext(&inner));
    inner.uc_sigmask = mask;
    inner.uc_stack.ss_sp = stack;
    inner.uc_stack.ss_size = sizeof stack;
    inner.uc_link = &outer;
    makecontext(&inner, body, 0);
    CHECK(swapcontext(&outer, &inner));
    show_mask("outside");
    touch_beside("outside");
    CHECK(swapcontext(&outer, &inner));
    show_mask("at the end");
}

static void edit(int number, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;
    (void)info;
    printf("handler of %d: mask %lx, interrupted %lx\n", number, mask_now(),
           bits_of(&interrupted->uc_sigmask));
    put_mask(interrupted, wanted);
}

/* No mask has SIGKILL or SIGSTOP: the kernel drops them, and qemu-user does not. */
static void return_to(sigset_t mask)
{
    wanted = mask;
    sigdelset(&wanted, SIGKILL);
    sigdelset(&wanted, SIGSTOP);
    raise(SIGUSR1);
    show_mask("returned to");
    touch_beside("returned to");
}

/* What a handler blocks without the frame knowing is as before when it has returned. */
static void block_all(int number)
{
    sigset_t all = every();
    (void)number;
    CHECK(pthread_sigmask(SIG_BLOCK, &all, NULL));
    show_mask("blocked in the handler");
    touch_beside("blocked in the handler");
}

static void unblock_all(int number)
{
    sigset_t all = every();
    (void)number;
    CHECK(pthread_sigmask(SIG_UNBLOCK, &all, NULL));
    show_mask("unblocked in the handler");
}

static void edit_by_handlers(void)
{
    for (int flags = 0; flags < 2; flags++) {
        printf("-- handlers %d\n", flags);
        handle_info(SIGUSR1, edit, 0, flags ? only(SIGSEGV) : only(0));
        return_to(every());
        set_mask(only(0));
        return_to(only(SIGSEGV));
        set_mask(only(SIGSEGV));
        return_to(only(0));
        handle(SIGUSR1, block_all, 0, only(0));
        raise(SIGUSR1);
        show_mask("after it had blocked");
        handle(SIGUSR1, unblock_all, 0, only(0));
        set_mask(only(SIGSEGV));
        raise(SIGUSR1);
        show_mask("after it had unblocked");
        set_mask(only(0));
    }
}

static void read_contexts(void)
{
    set_mask(only(SIGSEGV));
    CHECK(getcontext(&again));
    show_mask("getcontext");
    if (turns++ == 0) {
        set_mask(only(0));
        CHECK(setcontext(&again));
    }
    touch_beside("entered again");
    set_mask(only(0));
}

static void jump(bool saves, sigset_t before, sigset_t then)
{
    sigjmp_buf environment;
    set_mask(before);
    if (sigsetjmp(environment, saves) == 0) {
        set_mask(then);
        siglongjmp(environment, 1);
    }
    printf("jump %d from %lx to %lx: mask %lx\n", saves, bits_of(&then), bits_of(&before),
           mask_now());
    touch_beside("after a jump");
    set_mask(only(0));
}

int main(void)
{
    edge_start();
    touch_beside("first");
    make_and_run(every());
    make_and_run(only(SIGSEGV));
    set_mask(only(SIGSEGV));
    make_and_run(only(0));
    set_mask(only(0));
    edit_by_handlers();
    read_contexts();
    for (int saves = 0; saves < 2; saves++) {
        jump(saves, only(SIGSEGV), only(SIGUSR2));
        jump(saves, only(0), every());
        jump(saves, every(), only(0));
    }
    return 0;
}
