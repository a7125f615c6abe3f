#include "interpose/base/spare_stack.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/own_stack.h"
#include "track/frames.h"
#include "track/kernel.h"
#include "track/pool.h"
#include "track/uncancelled.h"

#include "track/poison.h"

enum {
    SHARED = 32,
    STACK_BYTES = 128 << 10,
    /* Never touched, around what is no neighbour. Valgrind takes a stack pointer that moves by less
     * than 2 MB for one that grows or shrinks, and what lies between for dead. */
    MARGIN_BYTES = 2 << 20,
    SHARED_BYTES = SHARED * STACK_BYTES,
    ALONE_BYTES = MARGIN_BYTES + STACK_BYTES + MARGIN_BYTES,
    ALL_BYTES = MARGIN_BYTES + SHARED_BYTES + MARGIN_BYTES,
};

static _Atomic uint32_t taken; /* bit by shared stack */
static _Atomic(char *) stacks;

/* Of small pages: to clear a huge one takes longer than what the stack is for. */
static char *map_stacks(size_t size_bytes)
{
    char *pages = sc_pages_map(size_bytes);
    if (pages)
        sc_kernel_call(SYS_madvise, pages, size_bytes, MADV_NOHUGEPAGE);
    return pages;
}

/* All of them at once; the loser of a race gives its own back. */
static char *find_stacks(void)
{
    char *found = atomic_load_explicit(&stacks, memory_order_acquire);
    if (found)
        return found;
    char *fresh = map_stacks(ALL_BYTES);
    if (!fresh || atomic_compare_exchange_strong(&stacks, &found, fresh))
        return fresh;
    sc_pages_unmap(fresh, ALL_BYTES);
    return found;
}

void sc_spare_stack_start(void)
{
    int saved = errno;
    find_stacks();
    errno = saved;
}

/* Whoever has one comes back soon: nobody waits on them, or can be taken out of there. */
static unsigned take_stack(void)
{
    uint32_t now = atomic_load_explicit(&taken, memory_order_relaxed);
    for (;;) {
        if (~now == 0) {
            sched_yield();
            now = atomic_load_explicit(&taken, memory_order_relaxed);
            continue;
        }
        unsigned free_one = (unsigned)__builtin_ctz(~now);
        if (atomic_compare_exchange_weak(&taken, &now, now | UINT32_C(1) << free_one))
            return free_one;
    }
}

static void give_stack(unsigned stack)
{
    atomic_fetch_and(&taken, ~(UINT32_C(1) << stack));
}

/* sc_spare_stack_switch(top, function, argument): the old stack pointer is the frame pointer
 * meanwhile, which is what unwinders are told. */
extern void sc_spare_stack_switch(char *top, sc_spare_function *function, void *argument)
    __attribute__((visibility("hidden")));

#if defined(__x86_64__)
__asm__(".text\n"
        ".balign 16\n"
        ".globl sc_spare_stack_switch\n"
        ".hidden sc_spare_stack_switch\n"
        ".type sc_spare_stack_switch, @function\n"
        "sc_spare_stack_switch:\n"
        "	.cfi_startproc\n"
        "	pushq %rbp\n"
        "	.cfi_def_cfa_offset 16\n"
        "	.cfi_offset %rbp, -16\n"
        "	movq %rsp, %rbp\n"
        "	.cfi_def_cfa_register %rbp\n"
        "	movq %rdi, %rsp\n"
        "	movq %rdx, %rdi\n"
        "	callq *%rsi\n"
        "	movq %rbp, %rsp\n"
        "	popq %rbp\n"
        "	.cfi_def_cfa %rsp, 8\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size sc_spare_stack_switch, . - sc_spare_stack_switch\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".balign 16\n"
        ".globl sc_spare_stack_switch\n"
        ".hidden sc_spare_stack_switch\n"
        ".type sc_spare_stack_switch, %function\n"
        "sc_spare_stack_switch:\n"
        "	.cfi_startproc\n"
        "	stp x29, x30, [sp, #-16]!\n"
        "	.cfi_def_cfa_offset 16\n"
        "	.cfi_offset 29, -16\n"
        "	.cfi_offset 30, -8\n"
        "	mov x29, sp\n"
        "	.cfi_def_cfa_register 29\n"
        "	mov sp, x0\n"
        "	mov x0, x2\n"
        "	blr x1\n"
        "	mov sp, x29\n"
        "	ldp x29, x30, [sp], #16\n"
        "	.cfi_def_cfa 31, 0\n"
        "	.cfi_restore 29\n"
        "	.cfi_restore 30\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size sc_spare_stack_switch, . - sc_spare_stack_switch\n");
#else
#error "how does this machine change stacks?"
#endif

static void run_on(char *top, sc_spare_function *function, void *argument)
{
    struct sc_frame_detour there = {(uintptr_t)top, (uintptr_t)__builtin_frame_address(0)};
    struct sc_frame_detour former = sc_frame_set_detour(there);
    sc_spare_stack_switch(top, function, argument);
    sc_frame_set_detour(former);
}

void sc_spare_stack_call(sc_spare_function *function, void *argument)
{
    SC_NO_CANCELLATION_POINT();
    int saved = errno;
    char *all = find_stacks();
    uint64_t before = sc_kernel_mask_block(SC_KERNEL_MASK_ALL_BUT_FAULTS);
    if (all && !sc_spare_stack_is_current()) {
        unsigned stack = take_stack();
        run_on(all + MARGIN_BYTES + (stack + (size_t)1) * STACK_BYTES, function, argument);
        give_stack(stack);
    } else {
        function(argument);
    }
    sc_kernel_mask_set(before);
    errno = saved;
}

/* The stack that is the calling thread's alone while it runs there. */
static __thread char *own_spare __attribute__((tls_model("initial-exec")));

static void run_on_own(char *stack, sc_spare_function *function, void *argument)
{
    char *former = own_spare;
    own_spare = stack;
    run_on(stack + STACK_BYTES, function, argument);
    own_spare = former;
}

void sc_spare_stack_call_alone(sc_spare_function *function, void *argument)
{
    SC_NO_CANCELLATION_POINT();
    int saved = errno;
    uint64_t before = sc_kernel_mask_block(SC_KERNEL_MASK_ALL_BUT_FAULTS & ~SC_KERNEL_MASK_SETXID);
    char *pages = map_stacks(ALONE_BYTES);
    if (pages)
        run_on_own(pages + MARGIN_BYTES, function, argument);
    else
        function(argument);
    sc_pages_unmap(pages, ALONE_BYTES);
    sc_kernel_mask_set(before);
    errno = saved;
}

static bool is_shared(uintptr_t address)
{
    uintptr_t all = (uintptr_t)atomic_load_explicit(&stacks, memory_order_relaxed);
    return all && address - (all + MARGIN_BYTES) < SHARED_BYTES;
}

bool sc_spare_stack_holds(uintptr_t address)
{
    return is_shared(address) || (own_spare && address - (uintptr_t)own_spare < STACK_BYTES);
}

bool sc_spare_stack_is_current(void)
{
    return is_shared((uintptr_t)__builtin_frame_address(0));
}

void sc_spare_stack_make_room(sc_spare_function *function, void *argument)
{
    if (sc_likely(sc_own_stack_has(SC_ROOM_BYTES)))
        function(argument);
    else
        sc_spare_stack_call(function, argument);
}
