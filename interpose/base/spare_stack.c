#include "interpose/base/spare_stack.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/frames.h"
#include "common/kernel.h"
#include "common/library_lock.h"
#include "common/mutex.h"
#include "common/own_pages.h"
#include "common/uncancelled.h"
#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/process.h"
#include "interpose/base/thread_stack.h"

#include "common/poison.h"

enum {
    SHARED = 32,
    STACK_BYTES = 128 << 10,
    /* Memory around the stacks that is never touched. Valgrind takes a stack pointer that moves by
     * less than 2 MB for a stack that grows or shrinks, and what lies between for dead. */
    MARGIN_BYTES = 2 << 20,
    SHARED_BYTES = SHARED * STACK_BYTES,
    ALONE_BYTES = MARGIN_BYTES + STACK_BYTES + MARGIN_BYTES,
    ALL_BYTES = MARGIN_BYTES + SHARED_BYTES + MARGIN_BYTES,
};

static _Atomic uint32_t taken; /* bit i: shared stack i is taken */
static _Atomic(char *) stacks;

/* Maps memory for stacks, in small pages: clearing a huge page would take longer than a call on the
 * stack. */
static char *map_stacks(size_t size_bytes)
{
    char *pages = sc_pages_map(size_bytes);
    if (pages)
        sc_kernel_call(SYS_madvise, pages, size_bytes, MADV_NOHUGEPAGE);
    return pages;
}

/* Returns the memory of all shared stacks, which the first caller maps; NULL: there is none. Two
 * threads may map it at once: the one that comes second unmaps its own. */
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

static bool abandon_if_due(unsigned slept_ms);

/* Maps the stacks while the process still has mappings left, and lets waits for locks of the
 * library be abandoned (abandon_if_due). */
void sc_spare_stack_start(void)
{
    SC_KEEP_ERRNO();
    atomic_store_explicit(&sc_library_lock_on_contended, abandon_if_due, memory_order_release);
    find_stacks();
}

/* Reserves a free stack, and returns its index. If all are taken, waits: an owner releases its
 * stack soon, as nobody waits long on a shared stack, or handles a signal there. */
static unsigned take_stack(void)
{
    uint32_t now = atomic_load_explicit(&taken, memory_order_relaxed);
    for (unsigned times = 0;;) {
        if (~now == 0) {
            sc_kernel_back_off(times++);
            now = atomic_load_explicit(&taken, memory_order_relaxed);
            continue;
        }
        unsigned free_stack = (unsigned)__builtin_ctz(~now);
        if (atomic_compare_exchange_weak(&taken, &now, now | UINT32_C(1) << free_stack))
            return free_stack;
    }
}

/* Makes a stack that take_stack has reserved free again. */
static void release_stack(unsigned stack)
{
    atomic_fetch_and(&taken, ~(UINT32_C(1) << stack));
}

/* Calls function(argument) on the stack that ends at `top`, or on the current one if `top` is NULL.
 * True: the function has returned. During the call the frame pointer holds the old stack pointer,
 * as the unwind information says, and so does *frame. sc_spare_stack_leave with that value abandons
 * the call, which then returns false, with the caller's saved registers restored. */
extern bool sc_spare_stack_switch(char *top, sc_spare_function *function, void *argument,
                                  uintptr_t *frame) __attribute__((visibility("hidden")));
extern void sc_spare_stack_leave(uintptr_t frame) __attribute__((visibility("hidden"), noreturn));

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
        "	pushq %rbx\n"
        "	.cfi_offset %rbx, -24\n"
        "	pushq %r12\n"
        "	.cfi_offset %r12, -32\n"
        "	pushq %r13\n"
        "	.cfi_offset %r13, -40\n"
        "	pushq %r14\n"
        "	.cfi_offset %r14, -48\n"
        "	pushq %r15\n"
        "	.cfi_offset %r15, -56\n"
        "	pushq %r15\n"
        "	movq %rbp, (%rcx)\n"
        "	testq %rdi, %rdi\n"
        "	cmovneq %rdi, %rsp\n"
        "	movq %rdx, %rdi\n"
        "	callq *%rsi\n"
        "	movl $1, %eax\n"
        ".Lsc_spare_stack_back:\n"
        "	movq -8(%rbp), %rbx\n"
        "	movq -16(%rbp), %r12\n"
        "	movq -24(%rbp), %r13\n"
        "	movq -32(%rbp), %r14\n"
        "	movq -40(%rbp), %r15\n"
        "	movq %rbp, %rsp\n"
        "	popq %rbp\n"
        "	.cfi_def_cfa %rsp, 8\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size sc_spare_stack_switch, . - sc_spare_stack_switch\n"
        ".balign 16\n"
        ".globl sc_spare_stack_leave\n"
        ".hidden sc_spare_stack_leave\n"
        ".type sc_spare_stack_leave, @function\n"
        "sc_spare_stack_leave:\n"
        "	movq %rdi, %rbp\n"
        "	xorl %eax, %eax\n"
        "	jmp .Lsc_spare_stack_back\n"
        ".size sc_spare_stack_leave, . - sc_spare_stack_leave\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".balign 16\n"
        ".globl sc_spare_stack_switch\n"
        ".hidden sc_spare_stack_switch\n"
        ".type sc_spare_stack_switch, %function\n"
        "sc_spare_stack_switch:\n"
        "	.cfi_startproc\n"
        "	stp x29, x30, [sp, #-160]!\n"
        "	.cfi_def_cfa_offset 160\n"
        "	.cfi_offset 29, -160\n"
        "	.cfi_offset 30, -152\n"
        "	mov x29, sp\n"
        "	.cfi_def_cfa_register 29\n"
        "	stp x19, x20, [x29, #16]\n"
        "	.cfi_offset 19, -144\n"
        "	.cfi_offset 20, -136\n"
        "	stp x21, x22, [x29, #32]\n"
        "	.cfi_offset 21, -128\n"
        "	.cfi_offset 22, -120\n"
        "	stp x23, x24, [x29, #48]\n"
        "	.cfi_offset 23, -112\n"
        "	.cfi_offset 24, -104\n"
        "	stp x25, x26, [x29, #64]\n"
        "	.cfi_offset 25, -96\n"
        "	.cfi_offset 26, -88\n"
        "	stp x27, x28, [x29, #80]\n"
        "	.cfi_offset 27, -80\n"
        "	.cfi_offset 28, -72\n"
        "	stp d8, d9, [x29, #96]\n"
        "	stp d10, d11, [x29, #112]\n"
        "	stp d12, d13, [x29, #128]\n"
        "	stp d14, d15, [x29, #144]\n"
        "	str x29, [x3]\n"
        "	cbz x0, 1f\n"
        "	mov sp, x0\n"
        "1:	mov x0, x2\n"
        "	blr x1\n"
        "	mov w0, #1\n"
        ".Lsc_spare_stack_back:\n"
        "	mov sp, x29\n"
        "	ldp x19, x20, [x29, #16]\n"
        "	ldp x21, x22, [x29, #32]\n"
        "	ldp x23, x24, [x29, #48]\n"
        "	ldp x25, x26, [x29, #64]\n"
        "	ldp x27, x28, [x29, #80]\n"
        "	ldp d8, d9, [x29, #96]\n"
        "	ldp d10, d11, [x29, #112]\n"
        "	ldp d12, d13, [x29, #128]\n"
        "	ldp d14, d15, [x29, #144]\n"
        "	ldp x29, x30, [sp], #160\n"
        "	.cfi_def_cfa 31, 0\n"
        "	.cfi_restore 29\n"
        "	.cfi_restore 30\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size sc_spare_stack_switch, . - sc_spare_stack_switch\n"
        ".balign 16\n"
        ".globl sc_spare_stack_leave\n"
        ".hidden sc_spare_stack_leave\n"
        ".type sc_spare_stack_leave, %function\n"
        "sc_spare_stack_leave:\n"
        "	mov x29, x0\n"
        "	mov w0, #0\n"
        "	b .Lsc_spare_stack_back\n"
        ".size sc_spare_stack_leave, . - sc_spare_stack_leave\n");
#else
#error "how does this machine change stacks?"
#endif

/* Calls the function on the stack that ends at `top`, and notes meanwhile where the thread left its
 * own stack, by which functions are recognised as running (common/frames.h). False: the call was
 * abandoned; *frame is what sc_spare_stack_leave needs for that. */
static bool run_on(char *top, sc_spare_function *function, void *argument, uintptr_t *frame)
{
    struct sc_frame_detour there = {(uintptr_t)top, (uintptr_t)__builtin_frame_address(0)};
    struct sc_frame_detour former = sc_frame_set_detour(there);
    bool has_returned = sc_spare_stack_switch(top, function, argument, frame);
    sc_frame_set_detour(former);
    return has_returned;
}

/* ---- calls that are abandoned ----
 *
 * A thread that holds a lock of the library may be stopped, by a signal handler that the library
 * does not know of, until the waiting thread handles a signal. So a thread that blocks the
 * program's signals, or ends the process, waits for a lock only in a call that can be abandoned:
 * the thread jumps out of it. */

enum {
    /* after that the lock's owner was probably not just waiting for a processor */
    SLEPT_LEAST_MS = 2,
    LAST_MOST_MS = 1000, /* the longest wait for a lock at the end of the process */
    LAST_MORE_MS = 20,   /* the longest wait once a call has been abandoned */
};

/* What abandoning a call needs and restores. */
struct escape {
    uintptr_t frame;
    /* the signal mask before the call; pending signals that it lets through end a wait */
    uint64_t outside;
    struct sc_frame inside;
    int depth, mutex_depth;
    bool may_abandon;         /* may the call be abandoned while it waits for a lock? */
    void (*undo)(void *lock); /* releases the one lock that the call holds then, or NULL */
    void *lock;
};

static struct escape escapes[SHARED]; /* of the call that runs on each shared stack */

/* Makes the record by which a call that begins now can be abandoned: what it changes for the
 * thread, and the signal mask that waits for locks compare with (`outside`). */
static struct escape make_escape(bool may_abandon, uint64_t outside)
{
    return (struct escape){.outside = outside,
                           .inside = sc_inside,
                           .depth = sc_library_lock_depth,
                           .mutex_depth = sc_mutex_depth,
                           .may_abandon = may_abandon};
}

/* Puts back what the abandoned call had changed for the thread: its count of locks, and whether it
 * is within a call of the library. It holds no mutex, or, in the last calls of a process, holds it
 * on. */
static void restore_outside(const struct escape *escape)
{
    sc_library_lock_depth = escape->depth;
    sc_inside = escape->inside;
}

/* The last calls of a process, all by one thread. */
static struct {
    _Atomic int32_t thread;
    _Atomic bool has_abandoned_one;
    struct escape escape;
} last;

/* Does this thread make the last calls of the process (sc_spare_stack_call_last)? */
static bool is_ending(void)
{
    return atomic_load_explicit(&last.thread, memory_order_relaxed) == sc_thread_id();
}

/* Returns the record of the call that runs on the current stack, if that is a shared spare stack;
 * else NULL. */
static struct escape *escape_of_shared(void)
{
    uintptr_t all = (uintptr_t)atomic_load_explicit(&stacks, memory_order_relaxed);
    uintptr_t from = (uintptr_t)__builtin_frame_address(0) - (all + MARGIN_BYTES);
    return all && from < SHARED_BYTES ? &escapes[from / STACK_BYTES] : NULL;
}

/* May the call be abandoned at the lock that it waits for? That lock counts in
 * sc_library_lock_depth already (the 1). A call that holds another lock may not, as nobody would
 * release it, unless it has said how (`undo`). */
static bool may_abandon_now(const struct escape *escape)
{
    int held = sc_library_lock_depth - escape->depth - 1;
    return escape->may_abandon && held == (escape->undo ? 1 : 0) &&
           sc_mutex_depth == escape->mutex_depth;
}

/* Says how the running call's one lock is released if the call is abandoned. On a stack that is no
 * shared one no call is abandoned, and nothing is noted. */
void sc_spare_stack_undo_by(void (*undo)(void *lock), void *lock)
{
    struct escape *escape = escape_of_shared();
    if (!escape)
        return;
    escape->undo = undo;
    escape->lock = lock;
}

/* Called again and again by a thread that waits for a lock of the library. Leaves the call if a
 * signal is pending that the thread would handle outside: the lock's owner may be stopped until
 * then. Not in the first 2 ms, in which the owner may just wait for a processor. Returns whether
 * the wait must call this again. At the end of the process a long wait is left in any case: the
 * owner may be stopped for good, and locks that this thread holds matter no more. */
static bool abandon_if_due(unsigned slept_ms)
{
    struct escape *escape = escape_of_shared();
    if (is_ending()) {
        if (slept_ms >= (atomic_load(&last.has_abandoned_one) ? LAST_MORE_MS : LAST_MOST_MS))
            sc_spare_stack_leave(last.escape.frame);
        return true;
    }
    if (!escape || !may_abandon_now(escape))
        return false;
    if (slept_ms < SLEPT_LEAST_MS || !sc_kernel_mask_holds_back(escape->outside))
        return true;
    if (escape->undo)
        escape->undo(escape->lock);
    sc_spare_stack_leave(escape->frame);
}

/* Returns on which spare stack the thread runs, as noted for frames. There is no function that only
 * reads it, so it is changed and put back. */
static struct sc_frame_detour detour_now(void)
{
    struct sc_frame_detour now = sc_frame_set_detour((struct sc_frame_detour){0, 0});
    sc_frame_set_detour(now);
    return now;
}

/* Calls the function at the end of the process, so that a wait for a lock can leave it. Then the
 * frames, the lock depth and the signal mask are as before the call, and further waits are cut
 * short (has_abandoned_one). A call may be within another one: its record is put back. */
static void call_at_end(sc_spare_function *function, void *argument)
{
    struct sc_frame_detour detour = detour_now();
    struct escape former = last.escape;
    uint64_t before = sc_kernel_mask_block(0);
    last.escape = make_escape(/*may_abandon*/ true, before);
    if (!sc_spare_stack_switch(NULL, function, argument, &last.escape.frame)) {
        restore_outside(&last.escape);
        sc_frame_set_detour(detour);
        sc_kernel_mask_set(before);
        atomic_store(&last.has_abandoned_one, true);
    }
    last.escape = former;
}

/* Calls the function while the process ends, when locks may never be released. `last` has room for
 * one thread: the first may leave its call at a lock, others call the function plainly. */
void sc_spare_stack_call_last(sc_spare_function *function, void *argument)
{
    SC_NO_CANCELLATION_POINT();
    SC_KEEP_ERRNO();
    int32_t none = 0;
    bool is_first = atomic_compare_exchange_strong(&last.thread, &none, sc_thread_id());
    if (is_first || is_ending())
        call_at_end(function, argument);
    else
        function(argument);
    if (is_first)
        atomic_store(&last.thread, 0);
}

/* ---- calls ---- */

/* Calls the function on a shared spare stack. False: the call was abandoned at a lock. The function
 * runs on the current stack if that is a spare one already, which has room, or if there is no
 * memory for stacks. */
static bool call_shared(sc_spare_function *function, void *argument, const struct escape *escape)
{
    char *all = find_stacks();
    if (!all || sc_spare_stack_is_current()) {
        function(argument);
        return true;
    }
    unsigned stack = take_stack();
    char *top = all + MARGIN_BYTES + (stack + (size_t)1) * STACK_BYTES;
    escapes[stack] = *escape;
    bool has_returned = run_on(top, function, argument, &escapes[stack].frame);
    if (!has_returned)
        restore_outside(escape);
    release_stack(stack);
    return has_returned;
}

/* Calls the function on a spare stack that all threads share, and never abandons the call. Signals
 * are blocked, except those of faults: a handler must not run on such a stack. */
void sc_spare_stack_call(sc_spare_function *function, void *argument)
{
    SC_NO_CANCELLATION_POINT();
    SC_KEEP_ERRNO();
    struct escape escape = make_escape(/*may_abandon*/ false, 0);
    uint64_t before = sc_kernel_mask_block(SC_KERNEL_MASK_ALL_BUT_FAULTS);
    call_shared(function, argument, &escape);
    sc_kernel_mask_set(before);
}

/* Calls the function on a shared spare stack. False: the call was abandoned while it waited for a
 * lock, since a signal is pending that the mask `outside` lets through. The caller handles it, and
 * may call again. */
bool sc_spare_stack_try(sc_spare_function *function, void *argument, const uint64_t *outside)
{
    SC_NO_CANCELLATION_POINT();
    SC_KEEP_ERRNO();
    uint64_t before = sc_kernel_mask_block(SC_KERNEL_MASK_ALL_BUT_FAULTS);
    struct escape escape = make_escape(/*may_abandon*/ true, outside ? *outside : before);
    bool has_returned = call_shared(function, argument, &escape);
    sc_kernel_mask_set(before);
    return has_returned;
}

/* Calls the function on a spare stack until it has returned: each time that it is abandoned at a
 * lock, the thread's pending signals are handled before the next attempt. */
void sc_spare_stack_repeat(sc_spare_function *function, void *argument)
{
    while (!sc_spare_stack_try(function, argument, NULL))
        continue;
}

/* The stack that the calling thread has alone while it runs on it (sc_spare_stack_call_alone). */
static __thread char *private_spare __attribute__((tls_model("initial-exec")));

/* Calls the function on this stack, which belongs to the calling thread alone meanwhile. There may
 * be an outer such call. */
static void run_on_private(char *stack, sc_spare_function *function, void *argument)
{
    char *former = private_spare;
    uintptr_t unused;
    private_spare = stack;
    run_on(stack + STACK_BYTES, function, argument, &unused);
    private_spare = former;
}

/* Calls the function on a stack that is mapped for this call, for functions that may wait for other
 * threads, which may need the shared stacks. Without memory it runs on the current stack. setuid's
 * signal stays unblocked: the thread that calls setuid waits until all others have handled it. */
void sc_spare_stack_call_alone(sc_spare_function *function, void *argument)
{
    SC_NO_CANCELLATION_POINT();
    SC_KEEP_ERRNO();
    uint64_t before = sc_kernel_mask_block(SC_KERNEL_MASK_ALL_BUT_FAULTS & ~SC_KERNEL_MASK_SETXID);
    char *pages = map_stacks(ALONE_BYTES);
    if (pages)
        run_on_private(pages + MARGIN_BYTES, function, argument);
    else
        function(argument);
    sc_pages_unmap(pages, ALONE_BYTES);
    sc_kernel_mask_set(before);
}

/* Does the address lie on one of the stacks that all threads share? */
static bool is_shared(uintptr_t address)
{
    uintptr_t all = (uintptr_t)atomic_load_explicit(&stacks, memory_order_relaxed);
    return all && address - (all + MARGIN_BYTES) < SHARED_BYTES;
}

/* Does the address lie on a spare stack: a shared one, or the one that this thread has alone? */
bool sc_spare_stack_holds(uintptr_t address)
{
    return is_shared(address) ||
           (private_spare && address - (uintptr_t)private_spare < STACK_BYTES);
}

/* Does the thread run on a shared spare stack? */
bool sc_spare_stack_is_current(void)
{
    return is_shared((uintptr_t)__builtin_frame_address(0));
}

/* Calls the function on the current stack if that has room for it, else on a spare stack, which
 * costs system calls. On coroutines' and handlers' stacks nobody knows the room. */
void sc_spare_stack_make_room(sc_spare_function *function, void *argument)
{
    if (sc_likely(sc_thread_stack_has_room(SC_ROOM_BYTES)))
        function(argument);
    else
        sc_spare_stack_call(function, argument);
}
