#include "interpose/signals/restartable_wait.h"

#include <stdint.h>

#include "common/kernel.h"

#include "common/poison.h"

extern const char sc_restartable_wait_check[] __attribute__((visibility("hidden")));
extern const char sc_restartable_wait_end[] __attribute__((visibility("hidden")));

#if defined(__x86_64__)
_Static_assert(SYS_rt_sigtimedwait == 128, "the number below");

__asm__(".text\n"
        ".balign 16\n"
        ".globl sc_restartable_wait, sc_restartable_wait_check, sc_restartable_wait_end\n"
        ".hidden sc_restartable_wait, sc_restartable_wait_check, sc_restartable_wait_end\n"
        ".type sc_restartable_wait, @function\n"
        "sc_restartable_wait:\n"
        "	.cfi_startproc\n"
        "	movq %rcx, %r8\n"
        "	movl $8, %r10d\n"
        "sc_restartable_wait_check:\n"
        "	cmpb $0, (%r8)\n"
        "	jne 1f\n"
        "	movl $128, %eax\n"
        "	syscall\n"
        "sc_restartable_wait_end:\n"
        "	ret\n"
        "1:	xorl %eax, %eax\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size sc_restartable_wait, . - sc_restartable_wait\n");
#elif defined(__aarch64__)
_Static_assert(SYS_rt_sigtimedwait == 137, "the number below");

__asm__(".text\n"
        ".balign 4\n"
        ".globl sc_restartable_wait, sc_restartable_wait_check, sc_restartable_wait_end\n"
        ".hidden sc_restartable_wait, sc_restartable_wait_check, sc_restartable_wait_end\n"
        ".type sc_restartable_wait, %function\n"
        "sc_restartable_wait:\n"
        "	.cfi_startproc\n"
        "	mov x4, x3\n"
        "	mov x3, #8\n"
        "	mov x8, #137\n"
        "sc_restartable_wait_check:\n"
        "	ldrb w5, [x4]\n"
        "	cbnz w5, 1f\n"
        "	svc #0\n"
        "sc_restartable_wait_end:\n"
        "	ret\n"
        "1:	mov x0, #0\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size sc_restartable_wait, . - sc_restartable_wait\n");
#else
#error "how does this machine wait for signals?"
#endif

/* Called by each handler of the library: if it has interrupted sc_restartable_wait between the
 * check of *is_kept and the end of the system call's instruction, has the thread check again when
 * the handler returns. Otherwise it would wait for a signal that is kept by now. */
void sc_restartable_wait_restart(ucontext_t *context)
{
#if defined(__x86_64__)
    greg_t *at = &context->uc_mcontext.gregs[REG_RIP];
#else
    __typeof__(context->uc_mcontext.pc) *at = &context->uc_mcontext.pc;
#endif
    uintptr_t check = (uintptr_t)sc_restartable_wait_check;
    if ((uintptr_t)*at - check < (uintptr_t)sc_restartable_wait_end - check)
        *at = (__typeof__(*at))check;
}
