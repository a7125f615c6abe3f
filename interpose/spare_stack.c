#include "interpose/spare_stack.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "track/pool.h"

#include "track/poison.h"

enum {
    STACKS = 64,
    STACK_BYTES = 64 << 10,
    /* Never touched, at both ends. Valgrind takes a stack pointer that moves by less than 2 MB for
     * one that grows or shrinks, and what lies between for dead. */
    MARGIN_BYTES = 2 << 20,
    ALL_BYTES = MARGIN_BYTES + STACKS * STACK_BYTES + MARGIN_BYTES,
};

static _Atomic uint64_t taken; /* bit by stack */
static _Atomic(char *) stacks;

/* All of them at once, at the first need; the loser of a race gives its own back. */
static char *find_stacks(void)
{
    char *found = atomic_load_explicit(&stacks, memory_order_acquire);
    if (found)
        return found;
    char *fresh = sc_pages_map(ALL_BYTES);
    if (!fresh || atomic_compare_exchange_strong(&stacks, &found, fresh))
        return fresh;
    sc_pages_unmap(fresh, ALL_BYTES);
    return found;
}

/* -1: none left. */
static int take_stack(void)
{
    uint64_t now = atomic_load_explicit(&taken, memory_order_relaxed);
    while (~now) {
        int free_one = __builtin_ctzll(~now);
        if (atomic_compare_exchange_weak(&taken, &now, now | UINT64_C(1) << free_one))
            return free_one;
    }
    return -1;
}

static void give_stack(int stack)
{
    atomic_fetch_and(&taken, ~(UINT64_C(1) << stack));
}

/* The old stack pointer waits in a register that the callee preserves. */
static void call_on(char *top, void (*function)(void *argument), void *argument)
{
#if defined(__x86_64__)
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "callq *%[function]\n\t"
                     "movq %%rbx, %%rsp"
                     : [function] "+r"(function), "+D"(argument)
                     : [top] "r"(top)
                     : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
                       "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                       "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
#elif defined(__aarch64__)
    register void *first __asm__("x0") = argument;
    __asm__ volatile("mov x19, sp\n\t"
                     "mov sp, %[top]\n\t"
                     "blr %[function]\n\t"
                     "mov sp, x19"
                     : "+r"(first)
                     : [top] "r"(top), [function] "r"(function)
                     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
                       "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x30", "v0", "v1", "v2",
                       "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21",
                       "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc",
                       "memory");
#else
#error "how does this machine change stacks?"
#endif
}

/* The kernel's own mask, past the C library and our wrappers. */
static uint64_t set_mask(uint64_t mask)
{
    uint64_t before = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
    return before;
}

static uint64_t bit_of(int signal)
{
    return UINT64_C(1) << (signal - 1);
}

/* A handler that came on top would begin at the top of the alternate stack, over the frame that we
 * have to return to: the kernel does not know that we are still on it. */
void sc_spare_stack_call(void (*function)(void *argument), void *argument)
{
    char *all = find_stacks();
    int stack = all ? take_stack() : -1;
    if (stack < 0) {
        function(argument);
        return;
    }
    uint64_t faults =
        bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGFPE) | bit_of(SIGILL) | bit_of(SIGTRAP);
    uint64_t before = set_mask(~faults);
    call_on(all + MARGIN_BYTES + (stack + 1) * STACK_BYTES, function, argument);
    set_mask(before);
    give_stack(stack);
}
