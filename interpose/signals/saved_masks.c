/* Records beside saved masks, and hooks of the functions that save a mask. These functions save
 * their caller's registers, too. So the hooks end by a jump into the C library's functions. */
#include "interpose/signals/saved_masks.h"

#include <setjmp.h>
#include <ucontext.h>

#include "interpose/base/loader.h"
#include "interpose/signals/sharing.h"
#include "interpose/signals/signal_mask.h"

#include "common/poison.h"

/* A sigset_t has sixteen words. Linux's mask is the first one, and the library's record the last.
 */
enum { WORDS = sizeof(sigset_t) / sizeof(unsigned long) };
static const unsigned long note_of_blocked = 0x5ec0b10cUL;

/* Stores with a saved mask whether the program has asked to block SIGSEGV (Linux's mask never has
 * it): in the last word of the sigset_t, which is beyond all signals. */
void sc_saved_masks_note(sigset_t *mask, bool blocked)
{
    mask->__val[WORDS - 1] = blocked ? note_of_blocked : 0;
}

/* Does this saved mask block SIGSEGV: as stored with it by the library, or as the program has set
 * it there? */
bool sc_saved_masks_blocks(const sigset_t *mask)
{
    return mask->__val[WORDS - 1] == note_of_blocked || sigismember(mask, SIGSEGV) == 1;
}

/* Removes SIGSEGV from a saved mask that the C library is about to set in Linux, and stores with it
 * that the program wanted it blocked. */
void sc_saved_masks_clear(sigset_t *mask)
{
    if (sigismember(mask, SIGSEGV) != 1)
        return;
    sigdelset(mask, SIGSEGV);
    sc_saved_masks_note(mask, true);
}

/* ---- called by the code below, which jumps to the function that they return ---- */

typedef void function(void);
extern function *sc_saved_masks_sigsetjmp(struct __jmp_buf_tag *environment, int saves_mask)
    __attribute__((visibility("hidden")));
extern function *sc_saved_masks_setjmp(struct __jmp_buf_tag *environment)
    __attribute__((visibility("hidden")));
extern function *sc_saved_masks_getcontext(ucontext_t *context)
    __attribute__((visibility("hidden")));
extern function *sc_saved_masks_makecontext(ucontext_t *context)
    __attribute__((visibility("hidden")));

/* Called before the C library's sigsetjmp, whose address it returns: stores with the mask that is
 * saved whether the program has asked to block SIGSEGV. If none is saved (`saves_mask` 0), the
 * buffer may be too small for that. */
function *sc_saved_masks_sigsetjmp(struct __jmp_buf_tag *environment, int saves_mask)
{
    if (saves_mask && sc_sharing_is_on())
        sc_saved_masks_note(&environment->__saved_mask, sc_signal_mask_blocks_fault());
    return SC_NEXT(function *, "__sigsetjmp");
}

/* Called before the C library's setjmp (BSD's, which always saves the mask), whose address it
 * returns: stores with the mask whether the program has asked to block SIGSEGV. */
function *sc_saved_masks_setjmp(struct __jmp_buf_tag *environment)
{
    if (sc_sharing_is_on())
        sc_saved_masks_note(&environment->__saved_mask, sc_signal_mask_blocks_fault());
    return SC_NEXT(function *, "setjmp");
}

/* Called before the C library's getcontext, whose address it returns: stores with the context's
 * mask whether the program has asked to block SIGSEGV. */
function *sc_saved_masks_getcontext(ucontext_t *context)
{
    if (sc_sharing_is_on())
        sc_saved_masks_note(&context->uc_sigmask, sc_signal_mask_blocks_fault());
    return SC_NEXT(function *, "getcontext");
}

/* Called before the C library's makecontext, whose address it returns: removes SIGSEGV from the
 * mask of the new context, and stores with it whether it was there. The C library itself may enter
 * the context when another one ends, past the hooks. */
function *sc_saved_masks_makecontext(ucontext_t *context)
{
    if (sc_sharing_is_on()) {
        bool blocked = sigismember(&context->uc_sigmask, SIGSEGV) == 1;
        sigdelset(&context->uc_sigmask, SIGSEGV);
        sc_saved_masks_note(&context->uc_sigmask, blocked);
    }
    return SC_NEXT(function *, "makecontext");
}

/* Defines the hook `name`: calls `function` with the arguments of the call, and then jumps to the C
 * library's function that this returns, with all registers for arguments as they were. */
#if defined(__x86_64__)
#define JUMP_BY_WAY_OF(name, function)                                                             \
    __asm__(".text\n"                                                                              \
            ".balign 16\n"                                                                         \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", @function\n" #name ":\n"                                             \
            "	.cfi_startproc\n"                                                                    \
            "	subq $56, %rsp\n"                                                                    \
            "	.cfi_adjust_cfa_offset 56\n"                                                         \
            "	movq %rdi, (%rsp)\n"                                                                 \
            "	movq %rsi, 8(%rsp)\n"                                                                \
            "	movq %rdx, 16(%rsp)\n"                                                               \
            "	movq %rcx, 24(%rsp)\n"                                                               \
            "	movq %r8, 32(%rsp)\n"                                                                \
            "	movq %r9, 40(%rsp)\n"                                                                \
            "	call " #function "\n"                                                              \
            "	movq %rax, %r11\n"                                                                   \
            "	movq (%rsp), %rdi\n"                                                                 \
            "	movq 8(%rsp), %rsi\n"                                                                \
            "	movq 16(%rsp), %rdx\n"                                                               \
            "	movq 24(%rsp), %rcx\n"                                                               \
            "	movq 32(%rsp), %r8\n"                                                                \
            "	movq 40(%rsp), %r9\n"                                                                \
            "	addq $56, %rsp\n"                                                                    \
            "	.cfi_adjust_cfa_offset -56\n"                                                        \
            "	xorl %eax, %eax\n"                                                                   \
            "	jmp *%r11\n"                                                                         \
            "	.cfi_endproc\n"                                                                      \
            ".size " #name ", . - " #name "\n")
#elif defined(__aarch64__)
#define JUMP_BY_WAY_OF(name, function)                                                             \
    __asm__(".text\n"                                                                              \
            ".balign 16\n"                                                                         \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", %function\n" #name ":\n"                                             \
            "	.cfi_startproc\n"                                                                    \
            "	stp x29, x30, [sp, #-80]!\n"                                                         \
            "	.cfi_def_cfa_offset 80\n"                                                            \
            "	.cfi_offset 29, -80\n"                                                               \
            "	.cfi_offset 30, -72\n"                                                               \
            "	stp x0, x1, [sp, #16]\n"                                                             \
            "	stp x2, x3, [sp, #32]\n"                                                             \
            "	stp x4, x5, [sp, #48]\n"                                                             \
            "	stp x6, x7, [sp, #64]\n"                                                             \
            "	bl " #function "\n"                                                                \
            "	mov x16, x0\n"                                                                       \
            "	ldp x0, x1, [sp, #16]\n"                                                             \
            "	ldp x2, x3, [sp, #32]\n"                                                             \
            "	ldp x4, x5, [sp, #48]\n"                                                             \
            "	ldp x6, x7, [sp, #64]\n"                                                             \
            "	ldp x29, x30, [sp], #80\n"                                                           \
            "	.cfi_def_cfa_offset 0\n"                                                             \
            "	.cfi_restore 29\n"                                                                   \
            "	.cfi_restore 30\n"                                                                   \
            "	br x16\n"                                                                            \
            "	.cfi_endproc\n"                                                                      \
            ".size " #name ", . - " #name "\n")
#else
#error "how does this machine pass arguments on?"
#endif

JUMP_BY_WAY_OF(__sigsetjmp, sc_saved_masks_sigsetjmp);
JUMP_BY_WAY_OF(setjmp, sc_saved_masks_setjmp);
JUMP_BY_WAY_OF(getcontext, sc_saved_masks_getcontext);
JUMP_BY_WAY_OF(makecontext, sc_saved_masks_makecontext);
