/* The hooks of functions that change signal masks. Once SIGSEGV is shared (sharing.h) they never
 * really block it, and the program does not notice. Before that, they pass every call on.
 *
 * A thread that has SIGSEGV blocked is killed by the kernel when it touches a guarded page. So
 * every function of the C library that changes a mask leaves SIGSEGV out. Whether the program
 * believes SIGSEGV blocked is noted for each thread. Mask calls report that belief, and new threads
 * and programs inherit it. A fault of the program's own kills where the program believes SIGSEGV
 * blocked, as the kernel would.
 *
 * A program may change its mask by a system call of its own, which no hook sees. So the mask that
 * the kernel should have is noted with the belief. If the kernel has another one, the program has
 * changed it, and the kernel's mask counts.
 *
 * Everything here is thread safe and signal safe, as what it stands for is; no lock; errno is kept.
 */
#ifndef SC_INTERPOSE_SIGNALS_SIGNAL_MASK_H
#define SC_INTERPOSE_SIGNALS_SIGNAL_MASK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "common/frames.h"

/* What the calling thread believes of SIGSEGV. */
struct sc_signal_mask {
    bool blocks_fault;       /* SIGSEGV is believed blocked; sigreturn.c writes it */
    bool has_pending_segv;   /* a SIGSEGV was sent meanwhile, and is kept (pending_segv.h) */
    bool pends_for_handler;  /* a SIGSEGV is kept for a handler that is about to begin */
    bool is_left_behind;     /* the belief is that of a handler which was left by a jump */
    struct sc_frame handler; /* if set: blocked only while the handler with this frame runs */
    uint64_t kernel_mask;    /* the kernel's mask while SIGSEGV is believed blocked; sigreturn.c */
    struct sc_frame change;  /* a hook at work that changes the mask and the belief */
    struct sc_other_mask {
        struct sc_frame
            wait;           /* a call that waits under this mask, until a handler comes out of it */
        uint64_t back;      /* the mask for the handler's frame, with SIGSEGV if blocked */
        uint64_t meanwhile; /* the mask of the wait, under which the handler runs */
    } other;
};

extern __thread struct sc_signal_mask sc_signal_mask
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Does the program believe that SIGSEGV is blocked on this thread? */
bool sc_signal_mask_blocks_fault(void);

/* The same, after the kernel has been asked whether the program has changed its mask past the
 * hooks. A system call if SIGSEGV is believed blocked. */
bool sc_signal_mask_really_blocks_fault(void);

/* The same, asked in a handler of SIGSEGV whose return address lies at `place`. A handler that was
 * noted with that place has been left by a jump, since its frame lay where this one is. */
bool sc_signal_mask_blocks_fault_above(uintptr_t place);

/* Is a hook at work on this thread that changes the mask and the belief? */
static inline bool sc_signal_mask_is_changing(void)
{
    return sc_frame_is_noted(&sc_signal_mask.change);
}

/* Is the mask changed for the library itself, as libunwind does for a moment? Such a change says
 * nothing of what the program believes. */
bool sc_signal_mask_change_is_ours(void);

/* Does the thread wait in a call under a mask that differs in SIGSEGV from its own? */
static inline bool sc_signal_mask_is_other(void)
{
    return sc_frame_is_noted(&sc_signal_mask.other.wait);
}

/* Notes in a handler's frame whether SIGSEGV was believed blocked, for its return. `is_nested`: the
 * handler interrupts another handler's first instruction, so it does not itself end a call that
 * waits under another mask. */
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

/* Notes that the program believes SIGSEGV blocked from now on, for as long as the handler with this
 * frame runs. `kernels`: the mask that the kernel has meanwhile, or is about to have. */
void sc_signal_mask_block_fault(struct sc_frame handler, uint64_t kernel_mask);

/* The program believes SIGSEGV blocked from now on, until it changes that. */
void sc_signal_mask_believe_blocked(uint64_t kernel_mask);

/* The program does not believe SIGSEGV blocked from now on. A kept SIGSEGV is sent. */
void sc_signal_mask_believe_unblocked(void);

/* Notes that the kernel has another mask from now on, for a handler. The belief stays. */
void sc_signal_mask_note_kernel_mask(uint64_t kernel_mask);

/* Notes that the program blocks or unblocks other signals (SIG_BLOCK, SIG_UNBLOCK). */
void sc_signal_mask_note_other_signals(int how, uint64_t signals);

/* Compares the kernel's mask with the one that goes with the belief. If they differ, the program
 * has changed its mask past the hooks, and the belief is dropped. A mask that blocks everything but
 * faults may be the library's own, for a moment, and does not count. */
void sc_signal_mask_compare(uint64_t kernel_mask);

/* Called for a fault of the program's own: drops a belief of a handler that was left by a jump.
 * Either the kernel would have killed the program here, or the program has unblocked SIGSEGV past
 * the hooks. For a mask with nothing else in it nobody can tell. */
void sc_signal_mask_drop_stale_belief(void);

/* A handler returns to `context`: takes SIGSEGV out of the context's mask, and sets the belief to
 * what the mask said. */
void sc_signal_mask_restore_from(ucontext_t *context);

/* Called before and after a call that waits under a mask of its own, as sigsuspend and ppoll do.
 * The call must be given the mask that `begin` returns. A kept SIGSEGV, or one that is sent
 * meanwhile, comes within the call and ends it if `mask` lets it in; otherwise it is kept until the
 * call's end. `frame` is the caller's. `mask` NULL: nothing is changed. */
struct sc_masked_wait {
    sigset_t room; /* for a mask without SIGSEGV */
    struct sc_other_mask outer;
    struct sc_frame handler;
    uint64_t blocked;     /* the mask that the thread had before all signals were blocked */
    bool differs, before; /* in SIGSEGV, from the thread's own mask; which blocked it */
};
const sigset_t *sc_signal_mask_begin_wait(struct sc_masked_wait *wait, const sigset_t *mask,
                                          struct sc_frame frame);
void sc_signal_mask_end_wait(const struct sc_masked_wait *wait);

/* If the calling thread really blocks SIGSEGV, unblocks it and notes that the program believes it
 * blocked. The C library may have created the thread by itself, or the mask was changed while
 * sharing began. */
void sc_signal_mask_begin(void);

/* The same for a thread that is known to have begun with SIGSEGV really blocked. */
void sc_signal_mask_begin_blocked(void);

/* Called before and after a call that starts another program. The program inherits a mask that
 * really blocks SIGSEGV if this thread believes it blocked, and a kept SIGSEGV as a pending one. */
void sc_signal_mask_begin_exec(void);
void sc_signal_mask_end_failed_exec(void);

#endif
