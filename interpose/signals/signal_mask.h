/* Hooks of functions that change signal masks. Once SIGSEGV is shared (sharing.h) they leave it
 * unblocked in Linux and make the program believe otherwise. Before that, they pass every call on
 * unchanged.
 *
 * A thread that has SIGSEGV blocked is killed by Linux when it touches a page that mprotect guards.
 * So every function of the C library that changes a mask leaves SIGSEGV out. For each thread the
 * library records whether the program has asked to block SIGSEGV: the program "believes" it
 * blocked. Mask calls report that belief, and new threads and programs inherit it. A fault that is
 * the program's own kills the process if the program believes SIGSEGV blocked, as in Linux.
 *
 * A program may change its mask by a system call that no hook sees. So the mask that Linux should
 * have is recorded with the belief. If Linux has another one, the program has changed it, and
 * Linux's mask counts.
 *
 * Everything here is thread-safe and signal-safe, as the functions that it hooks are; no lock;
 * errno is kept. */

/* Terms (docs/glossary.md):
 *   belief: whether the program believes SIGSEGV blocked on a thread, whatever mask Linux has
 *   guard: page protection of the memory of operations in flight
 *   hook: our function in the place of one of the C library's
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_SIGNALS_SIGNAL_MASK_H
#define SC_INTERPOSE_SIGNALS_SIGNAL_MASK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "common/frames.h"

/* What the program believes of SIGSEGV on this thread, which Linux has unblocked all the same. */
struct sc_signal_mask {
    bool blocks_fault;      /* SIGSEGV is believed blocked; sigreturn.c writes it, too */
    bool has_pending_segv;  /* a SIGSEGV was sent meanwhile, and is kept (pending_segv.h) */
    bool pends_for_handler; /* a SIGSEGV is kept for a handler that is about to begin */
    bool is_left_behind;    /* it was blocked by the mask of a handler that was left by a jump */
    /* If set: believed blocked only while the handler with this frame runs. */
    struct sc_frame handler;
    /* Linux's mask while SIGSEGV is believed blocked; sigreturn.c writes it, too. */
    uint64_t kernel_mask;
    struct sc_frame change; /* the frame of a hook that is changing the mask and this record */
    struct sc_other_mask {
        /* The frame of the call that waits under another mask; cleared when a handler returns
         * into it. */
        struct sc_frame wait;
        /* The mask that Linux sets when the handler returns, with SIGSEGV if believed blocked. */
        uint64_t back;
        uint64_t meanwhile; /* the mask of the wait, under which the handler runs */
    } other;
};

extern __thread struct sc_signal_mask sc_signal_mask
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Does the program believe that SIGSEGV is blocked on this thread (Linux has it unblocked)? */
bool sc_signal_mask_blocks_fault(void);

/* Does the program believe that SIGSEGV is blocked on this thread? First checks by a system call
 * whether the program has changed its mask past the hooks. No system call if SIGSEGV is not
 * believed blocked. */
bool sc_signal_mask_really_blocks_fault(void);

/* Does the program believe that SIGSEGV is blocked, in a handler of SIGSEGV whose return address is
 * stored at `place`? A handler that was recorded with that place has been left by a jump, since the
 * new frame lies where its frame lay. */
bool sc_signal_mask_blocks_fault_above(uintptr_t place);

/* Is a hook on this thread changing Linux's mask and the record of what the program believes? A
 * handler that interrupts it may find that the two do not agree. */
static inline bool sc_signal_mask_is_changing(void)
{
    return sc_frame_is_noted(&sc_signal_mask.change);
}

/* Does the library itself change the mask at present, as libunwind does for a moment? Such a change
 * does not count as the program's, which believes its mask unchanged. */
bool sc_signal_mask_change_is_ours(void);

/* Does the thread wait in a call under a mask that differs in SIGSEGV from the thread's mask? */
static inline bool sc_signal_mask_is_other(void)
{
    return sc_frame_is_noted(&sc_signal_mask.other.wait);
}

/* Called when a handler of the program is about to run: writes into its frame the mask to return
 * to, as it would be without the library, with SIGSEGV if that is believed blocked
 * (`blocks_fault`). If the handler has ended a call that waits under another mask (sigsuspend),
 * that is the mask before the call. `is_nested`: the handler has interrupted another handler's
 * first instruction, and that one has ended the call. */
static inline void sc_signal_mask_write_to_frame(ucontext_t *context, bool blocks_fault,
                                                 bool is_nested)
{
    if (!is_nested && sc_signal_mask_is_other()) {
        memcpy(&context->uc_sigmask, &sc_signal_mask.other.back, sizeof sc_signal_mask.other.back);
        sc_signal_mask.other.wait.place = 0;
    } else if (blocks_fault) {
        sigaddset(&context->uc_sigmask, SIGSEGV);
    }
}

/* Records that the program believes SIGSEGV blocked as long as the handler with this frame runs.
 * `kernel_mask`: the mask that Linux has meanwhile, or is about to have. */
void sc_signal_mask_block_fault(struct sc_frame handler, uint64_t kernel_mask);

/* Records that the program believes SIGSEGV blocked, until it changes that. */
void sc_signal_mask_believe_blocked(uint64_t kernel_mask);

/* Records that the program believes SIGSEGV unblocked. One that was sent while it was believed
 * blocked, and kept for the thread, is sent again. */
void sc_signal_mask_believe_unblocked(void);

/* Records the mask that this thread has in Linux from now on, as the library has changed it. What
 * the program believes of SIGSEGV stays. */
void sc_signal_mask_note_kernel_mask(uint64_t kernel_mask);

/* Records that the program blocks or unblocks signals other than SIGSEGV by a hook (`how`:
 * SIG_BLOCK or SIG_UNBLOCK), so that the change is not taken for one made past the hooks. */
void sc_signal_mask_note_other_signals(int how, uint64_t signals);

/* Compares Linux's mask with the one recorded when the program blocked SIGSEGV. If they differ, the
 * program has changed its mask past the hooks, and SIGSEGV counts as unblocked. A mask that blocks
 * everything but faults may be the library's, for a moment, and does not count. */
void sc_signal_mask_compare(uint64_t kernel_mask);

/* Called for a fault that is the program's own: if SIGSEGV is believed blocked only because a
 * handler was left by a jump, takes it for unblocked. Either Linux would have killed the program
 * here, or the program has unblocked SIGSEGV past the hooks; if the recorded mask has no other
 * signal, the two cannot be distinguished. */
void sc_signal_mask_drop_stale_belief(void);

/* Called when a handler of the program returns to `context`: removes SIGSEGV from its mask, which
 * Linux sets next, and records that the program believes it blocked, or, if it was not there,
 * unblocked. */
void sc_signal_mask_restore_from(ucontext_t *context);

/* Called before and after a call that waits under another signal mask than the thread's, as
 * sigsuspend and ppoll do. The call must be given the mask that `begin` returns. If `mask` has
 * SIGSEGV unblocked, a kept SIGSEGV, or one sent meanwhile, is delivered within the call and ends
 * it; otherwise it is kept until the end of the call. `frame` is the caller's. `mask` NULL: nothing
 * changes. */
struct sc_masked_wait {
    sigset_t room; /* a copy of the mask without SIGSEGV */
    struct sc_other_mask outer;
    struct sc_frame handler;
    uint64_t blocked; /* the mask that the thread had before all signals were blocked */
    bool differs;     /* does the wait's mask differ from the thread's in SIGSEGV? */
    bool before;      /* did the thread believe SIGSEGV blocked before the wait? */
};
const sigset_t *sc_signal_mask_begin_wait(struct sc_masked_wait *wait, const sigset_t *mask,
                                          struct sc_frame frame);
void sc_signal_mask_end_wait(const struct sc_masked_wait *wait);

/* Unblocks SIGSEGV if the calling thread really blocks it, and records that the program believes it
 * blocked. The C library may have created the thread, or the mask was changed while sharing began.
 */
void sc_signal_mask_begin(void);

/* Unblocks SIGSEGV on the calling thread, which is known to have begun with SIGSEGV really blocked,
 * and records that the program believes it blocked. */
void sc_signal_mask_begin_blocked(void);

/* Called before exec, and after one that has failed. The new program inherits a mask that really
 * blocks SIGSEGV if this thread believes it blocked, and a kept SIGSEGV as a pending one. */
void sc_signal_mask_begin_exec(void);
void sc_signal_mask_end_failed_exec(void);

#endif
