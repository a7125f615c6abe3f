#include "interpose/signals/sigreturn.h"

#include <gnu/libc-version.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

#include "common/kernel.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/object_range.h"
#include "interpose/base/process.h"
#include "interpose/signals/sharing.h"
#include "interpose/signals/signal_mask.h"

#include "common/poison.h"

#if SC_SIGRETURN_IS_OURS

/* When a handler has returned, the stack pointer points at the frame's ucontext_t. The code below
 * contains these numbers. */
_Static_assert(offsetof(ucontext_t, uc_sigmask) == 296, "the mask in the frame");
_Static_assert(offsetof(ucontext_t, uc_mcontext.gregs) == 40, "the registers in the frame");
_Static_assert(SC_SIGNAL_BIT(SIGSEGV) == UINT64_C(1) << 10, "the signal in the mask");
_Static_assert(offsetof(struct sc_signal_mask, blocks_fault) == 0, "written by the code below");
_Static_assert(offsetof(struct sc_signal_mask, has_pending_segv) == 1, "read by it");
_Static_assert(offsetof(struct sc_signal_mask, handler.place) == 8, "and so is this");
_Static_assert(offsetof(struct sc_inside_interruption, handler_end) == 0, "compared by it");
_Static_assert(offsetof(struct sc_inside_interruption, block) == 8, "written by it");
_Static_assert(sizeof(((struct sc_signal_mask *)NULL)->blocks_fault) == 1, "as one byte");
_Static_assert(offsetof(struct sc_signal_mask, kernel_mask) == 24, "written by it");
_Static_assert(SC_SHARING_FAULTS == 2 && sizeof sc_sharing_now == 1, "read by it");

/* Where the program's signal handlers return to, in place of the C library's code. If the handler
 * had interrupted a call that the library makes for itself, calls count as the library's again.
 * Once the library shares SIGSEGV with the program, the mask in the frame, which Linux sets next,
 * loses SIGSEGV, and that the program believes it blocked is recorded. If the mask had none, the
 * program has it unblocked, and a kept SIGSEGV is sent again. */
extern void sc_sigreturn_way_back(void) __attribute__((visibility("hidden")));

/* Says to unwinders where a register is saved, by its number in DWARF and its index in gregs; index
 * 15 is the stack pointer. An unwinder looks up the instruction before a return address, which is
 * the nop. */
__asm__(".macro sc_saved number, index\n"
        "	.cfi_escape 0x10, \\number, 3, 0x77, ((40 + 8 * \\index) & 127) | 128, "
        "(40 + 8 * \\index) >> 7\n"
        ".endm\n"
        ".text\n"
        ".balign 16\n"
        "	.cfi_startproc\n"
        "	.cfi_signal_frame\n"
        "	.cfi_escape 0x0f, 4, 0x77, ((40 + 8 * 15) & 127) | 128, (40 + 8 * 15) >> 7, 0x06\n"
        "	sc_saved 0, 13\n"
        "	sc_saved 1, 12\n"
        "	sc_saved 2, 14\n"
        "	sc_saved 3, 11\n"
        "	sc_saved 4, 9\n"
        "	sc_saved 5, 8\n"
        "	sc_saved 6, 10\n"
        "	sc_saved 7, 15\n"
        "	sc_saved 8, 0\n"
        "	sc_saved 9, 1\n"
        "	sc_saved 10, 2\n"
        "	sc_saved 11, 3\n"
        "	sc_saved 12, 4\n"
        "	sc_saved 13, 5\n"
        "	sc_saved 14, 6\n"
        "	sc_saved 15, 7\n"
        "	sc_saved 16, 16\n"
        "	nop\n"
        ".globl sc_sigreturn_way_back\n"
        ".hidden sc_sigreturn_way_back\n"
        ".type sc_sigreturn_way_back, @function\n"
        "sc_sigreturn_way_back:\n"
        "	movq sc_inside_interruption@gottpoff(%rip), %rax\n"
        "	cmpq %rsp, %fs:(%rax)\n"
        "	jne 2f\n"
        "	movq $0, %fs:8(%rax)\n"
        "2:	cmpb $2, sc_sharing_now(%rip)\n"
        "	jne 1f\n"
        "	movq sc_signal_mask@gottpoff(%rip), %rax\n"
        "	btrl $10, 296(%rsp)\n"
        "	setc %fs:(%rax)\n"
        "	movq $0, %fs:8(%rax)\n"
        "	movq 296(%rsp), %rcx\n"
        "	movq %rcx, %fs:24(%rax)\n"
        "	jc 1f\n"
        "	cmpb $0, %fs:1(%rax)\n"
        "	je 1f\n"
        "	call sc_pending_segv_deliver_with_mask\n"
        "1:	movq $15, %rax\n"
        "	syscall\n"
        "	.cfi_endproc\n"
        ".size sc_sigreturn_way_back, . - sc_sigreturn_way_back\n");

/* The structure of the system call rt_sigaction. */
struct kernel_action {
    void *handler;
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/* Has the action a function to call (neither SIG_DFL nor SIG_IGN)? */
static bool is_handler(const struct kernel_action *action)
{
    return action->handler != (void *)SIG_DFL && action->handler != (void *)SIG_IGN;
}

static _Atomic(void *) libc_restorer; /* the C library's way back (sa_restorer) */

/* Has the signal's handler, which the library has just installed, return to the library's code:
 * puts its address (sa_restorer) into the action that Linux has, and records the address that the C
 * library had put there, for the program to read. */
void sc_sigreturn_adopt(int number)
{
    struct kernel_action action;
    SC_KEEP_ERRNO();
    if (sc_kernel_call(SYS_rt_sigaction, number, NULL, &action, sizeof action.mask) == 0 &&
        is_handler(&action) && action.restorer != sc_sigreturn_way_back) {
        atomic_store(&libc_restorer, (void *)(uintptr_t)action.restorer);
        action.restorer = sc_sigreturn_way_back;
        sc_kernel_call(SYS_rt_sigaction, number, &action, NULL, sizeof action.mask);
    }
}

static struct sc_object_range c_library; /* its addresses; empty: not known yet */

/* Finds the C library's range of addresses, by which sc_sigreturn_was_set_by_libc knows its code.
 * gnu_get_libc_version is not hooked, so its address is in the C library. */
void sc_sigreturn_find_libc_restorer(void)
{
    c_library = sc_object_range_of((uintptr_t)gnu_get_libc_version);
}

/* Was the action set by the C library, and not by a system call of the program? The code that its
 * handler returns to (sa_restorer) tells. */
bool sc_sigreturn_was_set_by_libc(const struct sigaction *action)
{
    return sc_object_range_holds(&c_library, (uintptr_t)action->sa_restorer);
}

/* Does a handler with this return address return to the library's code, which restores what the
 * program believes of SIGSEGV? */
bool sc_sigreturn_is_return_to_us(uintptr_t caller)
{
    return caller == (uintptr_t)sc_sigreturn_way_back;
}

/* Puts the C library's return code (sa_restorer) into an action that the program will read, which
 * has the library's. The C library puts its code into every action that it passes to Linux, also
 * into those that ignore the signal. */
void sc_sigreturn_put_libc_restorer(struct sigaction *action)
{
    enum { SA_RESTORED = 0x04000000 };
    void *known = atomic_load(&libc_restorer);
    if (known && (action->sa_flags & SA_RESTORED))
        action->sa_restorer = (void (*)(void))(uintptr_t)known;
}

#else

/* Here Linux provides the code to which handlers return: nothing is to be put into actions. */
void sc_sigreturn_adopt(int number)
{
    (void)number;
}

/* Here no address in an action tells who has set it, so none is searched for. */
void sc_sigreturn_find_libc_restorer(void)
{
}

/* Here an action does not tell who has set it: all count as the C library's. */
bool sc_sigreturn_was_set_by_libc(const struct sigaction *action)
{
    (void)action;
    return true;
}

/* Here each handler is called by the library's, and returns to it. */
bool sc_sigreturn_is_return_to_us(uintptr_t caller)
{
    (void)caller;
    return true;
}

/* Here the library puts no code into actions, so none is to be replaced. */
void sc_sigreturn_put_libc_restorer(struct sigaction *action)
{
    (void)action;
}

#endif
