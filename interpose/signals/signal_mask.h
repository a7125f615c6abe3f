/* Signal masks: once SIGSEGV is shared (sharing.h) it is never really blocked, and the program
 * never learns of it. Before, the hooks pass every call on.
 *
 * A thread that has SIGSEGV blocked is killed by the kernel when it touches a guarded page. So
 * every function of the C library that changes a mask leaves SIGSEGV out. What the program believes
 * is noted for each thread. The mask calls say it, and new threads and programs inherit it. A fault
 * of the program's own kills where the program believes SIGSEGV blocked, as the kernel would.
 *
 * A program that changes its mask by a system call of its own is not seen. So the mask that the
 * kernel has to have is noted with the belief. Where the kernel has another one, the program has
 * changed it, and the kernel's holds.
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

/* What the calling thread believes. */
struct sc_signal_mask {
    bool blocks_fault;       /* SIGSEGV; sigreturn.c writes it */
    bool keeps_one;          /* one was sent meanwhile (kept_signal.h) */
    bool keeps_for_handler;  /* it is held from the first instruction of a handler on */
    bool is_left_behind;     /* blocked by no call, but by a handler that was left by a jump */
    struct sc_frame handler; /* blocked because this one, a handler of SIGSEGV, is under way */
    uint64_t kernels;        /* the kernel's mask while SIGSEGV is believed blocked; sigreturn.c */
    struct sc_frame change;  /* a hook that changes the mask, and sees to what is believed */
    struct sc_other_mask {
        struct sc_frame
            wait;      /* a call that waits under this mask, until a handler comes out of it */
        uint64_t back; /* the mask that the handler finds in its frame, with SIGSEGV if blocked */
        uint64_t meanwhile; /* the one under which it runs */
    } other;
};

extern __thread struct sc_signal_mask sc_signal_mask
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Does the program believe that SIGSEGV is blocked on this thread? */
bool sc_signal_mask_blocks_fault(void);

/* The same, once the kernel has been asked whether the program has changed its mask past the hooks.
 * A system call if SIGSEGV is believed blocked. */
bool sc_signal_mask_really_blocks_fault(void);

/* The same in a handler of SIGSEGV whose return address lies at `place`. A former handler whose
 * frame lay there has been left. */
bool sc_signal_mask_blocks_fault_above(uintptr_t place);

/* Is a hook at work on this thread that changes the mask, and sees to what is believed? */
static inline bool sc_signal_mask_is_changing(void)
{
    return sc_frame_is_noted(&sc_signal_mask.change);
}

/* Is the mask changed by a library that works for ours, as libunwind does for a moment? It says
 * nothing of what the program believes. */
bool sc_signal_mask_is_for_us(void);

/* Does the thread wait in a call under a mask that differs in SIGSEGV from its own? */
static inline bool sc_signal_mask_is_other(void)
{
    return sc_frame_is_noted(&sc_signal_mask.other.wait);
}

/* The frame of a handler says what was blocked. `is_nested`: it interrupts another handler's first
 * instruction, and so does not come out of that call itself. */
static inline void sc_signal_mask_say_in_frame(ucontext_t *context, bool blocks_fault,
                                               bool is_nested)
{
    if (!is_nested && sc_signal_mask_is_other()) {
        memcpy(&context->uc_sigmask, &sc_signal_mask.other.back, sizeof sc_signal_mask.other.back);
        sc_signal_mask.other.wait.place = 0;
    } else if (blocks_fault) {
        sigaddset(&context->uc_sigmask, SIGSEGV);
    }
}

/* From now on the program believes SIGSEGV blocked: for as long as the handler with this frame is
 * under way, or for good. `kernels` is the mask that the kernel has meanwhile, or is about to have.
 */
void sc_signal_mask_block_fault(struct sc_frame handler, uint64_t kernels);
void sc_signal_mask_believe_blocked(uint64_t kernels);

/* From now on the program does not believe SIGSEGV blocked. One that was kept is sent. */
void sc_signal_mask_believe_unblocked(void);

/* What is believed of SIGSEGV stays, and the kernel has another mask: for a handler, or since the
 * program changes other signals (SIG_BLOCK or SIG_UNBLOCK). */
void sc_signal_mask_note_kernels(uint64_t kernels);
void sc_signal_mask_note_others(int how, uint64_t signals);

/* The kernel has this mask. Where it is not the one that goes with what is believed, the program
 * has changed it past the hooks, and the belief is dropped. A mask that blocks all but faults may
 * be the library's own, for a moment. */
void sc_signal_mask_compare(uint64_t kernels);

/* The program has a fault of its own. Where a handler that was left by a jump has left its mask
 * behind, the belief is dropped: either the kernel would have killed, or the program has unblocked
 * SIGSEGV past the hooks, and of a mask with nothing else in it nobody can tell. */
void sc_signal_mask_doubt(void);

/* A handler returns to a context. The context's mask says what the thread believes then, and
 * SIGSEGV is taken out of that mask. */
void sc_signal_mask_take_from(ucontext_t *context);

/* Around a call that waits under a mask of its own, as sigsuspend and ppoll do. The call is given
 * what `begin` returns. A SIGSEGV that is kept, or is sent meanwhile, comes within the call and
 * ends it if the mask lets it in, and waits for its end if the mask blocks it. `frame` is the
 * caller's. `mask`: NULL changes nothing. */
struct sc_masked_wait {
    sigset_t room;
    struct sc_other_mask outer;
    struct sc_frame handler;
    uint64_t blocked;
    bool differs, before;
};
const sigset_t *sc_signal_mask_begin_wait(struct sc_masked_wait *wait, const sigset_t *mask,
                                          struct sc_frame frame);
void sc_signal_mask_end_wait(const struct sc_masked_wait *wait);

/* The calling thread may have SIGSEGV really blocked: it is one that the C library has created by
 * itself, or its mask was changed while SIGSEGV began to be shared. Then it only believes so. */
void sc_signal_mask_begin(void);

/* The calling thread has begun with SIGSEGV really blocked: now it only believes so. */
void sc_signal_mask_begin_blocked(void);

/* Around a call that starts another program, which inherits what this thread believes and, in its
 * place, a SIGSEGV that it keeps. */
void sc_signal_mask_hand_over(void);
void sc_signal_mask_take_back(void);

#endif
