#undef _FORTIFY_SOURCE /* it would give longjmp and its like the name __longjmp_chk */

#include "interpose/signals/signal_mask.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "common/library_lock.h"
#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/guard/door.h"
#include "interpose/signals/blocked_threads.h"
#include "interpose/signals/pending_segv.h"
#include "interpose/signals/saved_masks.h"
#include "interpose/signals/sharing.h"
#include "interpose/signals/upwards.h"
#include "track/track_views.h"

#include "common/poison.h"

/* Where the stack pointer of a saved context points. */
#if defined __x86_64__
#define STACK_OF(context) ((uintptr_t)(context)->uc_mcontext.gregs[REG_RSP])
#else
#define STACK_OF(context) ((uintptr_t)(context)->uc_mcontext.sp)
#endif

typedef int mask_function(int how, const sigset_t *set, sigset_t *old);
typedef int number_function(int number);
typedef int suspend_function(const sigset_t *mask);
typedef int switch_function(ucontext_t *from, const ucontext_t *to);
typedef int enter_function(const ucontext_t *to);
typedef void jump_function(struct __jmp_buf_tag environment[1], int value);

__thread struct sc_signal_mask sc_signal_mask;

/* ---- what is believed ---- */

/* Has the program asked to block SIGSEGV on this thread (it believes it blocked, though Linux never
 * has)? If that was by a handler's mask, it ends with that handler, which may be left in ways that
 * no hook sees; so it is asked whether the handler's frame still exists. */
bool sc_signal_mask_blocks_fault(void)
{
    const struct sc_signal_mask *mask = &sc_signal_mask;
    return sc_unlikely(mask->blocks_fault) &&
           (mask->handler.place == 0 || sc_frame_lives(&mask->handler));
}

/* As sc_signal_mask_blocks_fault (has the program asked to block SIGSEGV here?), for a handler of
 * SIGSEGV whose return address is stored at `place`. If it was blocked by the mask of a handler
 * whose frame lay at that place, that handler was left by a jump, since the new frame has its
 * place: then false. */
bool sc_signal_mask_blocks_fault_above(uintptr_t place)
{
    return sc_signal_mask_blocks_fault() && sc_signal_mask.handler.place != place;
}

/* Signals that are not compared: the C library's own two, the two that no mask can have, and the
 * last two, which qemu-user keeps out of masks. */
#define NOT_COMPARED                                                                               \
    (SC_KERNEL_MASK_LIBC | SC_SIGNAL_BIT(SIGKILL) | SC_SIGNAL_BIT(SIGSTOP) | SC_SIGNAL_BIT(63) |   \
     SC_SIGNAL_BIT(64))

/* Checks, when the program believes SIGSEGV blocked, whether Linux's mask is the recorded one. If
 * not, the program has changed its mask by a system call of its own, and Linux's mask counts:
 * SIGSEGV is unblocked. A difference does not count if it may be the library's, which blocks all
 * signals but faults for a moment (may_be_ours), nor within a call that waits under another mask.
 */
void sc_signal_mask_compare(uint64_t kernel_mask)
{
    struct sc_signal_mask *mask = &sc_signal_mask;
    uint64_t differing = (kernel_mask ^ mask->kernel_mask) & ~NOT_COMPARED;
    bool may_be_ours = (mask->kernel_mask & differing) == 0 &&
                       (SC_KERNEL_MASK_ALL_BUT_FAULTS & ~kernel_mask & ~NOT_COMPARED) == 0;
    if (sc_likely(!mask->blocks_fault || differing == 0) || may_be_ours ||
        sc_signal_mask_is_other())
        return;
    sc_signal_mask_believe_unblocked();
}

/* Does the program believe that this thread blocks SIGSEGV? If so, reads Linux's mask to check that
 * the program has not changed its mask past the hooks since. */
bool sc_signal_mask_really_blocks_fault(void)
{
    if (sc_likely(!sc_signal_mask_blocks_fault()))
        return false;
    sc_signal_mask_compare(sc_kernel_mask_block(0));
    return sc_signal_mask_blocks_fault();
}

/* Records that the program blocks SIGSEGV on this thread: while the handler with this frame runs,
 * or
 * (`handler` empty) until it changes that. In Linux SIGSEGV stays unblocked, so that faults on
 * protected pages reach the library's handler. `kernel_mask`: Linux's mask meanwhile. */
void sc_signal_mask_block_fault(struct sc_frame handler, uint64_t kernel_mask)
{
    sc_signals_prepare_pending();
    sc_signal_mask.kernel_mask = kernel_mask;
    sc_signal_mask.handler = handler;
    sc_signal_mask.blocks_fault = true;
}

static const struct sc_frame for_good; /* no handler, with which it would end */

/* Records that the program has blocked SIGSEGV on this thread, until it changes that. If SIGSEGV
 * was believed blocked already, because a handler was left by a jump, is_left_behind stays: a
 * program that reads such a mask and sets it again does not show that it wants SIGSEGV blocked. In
 * a child of vfork nothing is recorded: the memory is the parent's. */
void sc_signal_mask_believe_blocked(uint64_t kernel_mask)
{
    if (sc_sharing_is_vfork_child())
        return;
    if (!sc_signal_mask_blocks_fault())
        sc_signal_mask.is_left_behind = false;
    sc_signal_mask_block_fault(for_good, kernel_mask);
}

/* Records that the program has unblocked SIGSEGV on this thread. One that was sent meanwhile was
 * kept for the thread, and is delivered now. In a child of vfork nothing is recorded: the memory is
 * the parent's. */
void sc_signal_mask_believe_unblocked(void)
{
    struct sc_signal_mask *mask = &sc_signal_mask;
    if (!mask->blocks_fault || sc_sharing_is_vfork_child())
        return;
    mask->blocks_fault = false;
    mask->handler = for_good;
    if (mask->has_pending_segv)
        sc_pending_segv_deliver();
}

/* Called for a fault of the program's own: if SIGSEGV is believed blocked only because a handler
 * was left by a jump, the program has unblocked it since, past the hooks: else Linux would have
 * killed it for the fault. So it counts as unblocked, and the program's handler is called. */
void sc_signal_mask_drop_stale_belief(void)
{
    const struct sc_signal_mask *mask = &sc_signal_mask;
    if (sc_unlikely(mask->is_left_behind) && mask->handler.place == 0)
        sc_signal_mask_believe_unblocked();
}

/* Records whether the program has SIGSEGV blocked on this thread from now on, as it believes: Linux
 * never has. `kernel_mask`: the thread's mask in Linux. */
static void set_belief(bool blocked, uint64_t kernel_mask)
{
    if (blocked)
        sc_signal_mask_believe_blocked(kernel_mask & ~SC_SIGNAL_BIT(SIGSEGV));
    else
        sc_signal_mask_believe_unblocked();
}

/* Records the mask that this thread has in Linux from now on. What the program believes of SIGSEGV
 * stays. */
void sc_signal_mask_note_kernel_mask(uint64_t kernel_mask)
{
    sc_signal_mask.kernel_mask = kernel_mask;
}

/* Records a change of other signals that the program makes by a hook, so that it is not taken for
 * one made past the hooks. */
void sc_signal_mask_note_other_signals(int how, uint64_t signals)
{
    if (how == SIG_BLOCK)
        sc_signal_mask.kernel_mask |= signals;
    else
        sc_signal_mask.kernel_mask &= ~signals;
}

/* Called when a handler of the program has returned: removes SIGSEGV from the mask to which it
 * returns, which Linux sets next, and records that the program believes it blocked or unblocked, as
 * the mask had it. */
void sc_signal_mask_restore_from(ucontext_t *context)
{
    bool blocked = sigismember(&context->uc_sigmask, SIGSEGV) == 1;
    sigdelset(&context->uc_sigmask, SIGSEGV);
    set_belief(blocked, sc_kernel_mask_of(&context->uc_sigmask));
}

/* Unblocks SIGSEGV in Linux, whatever the program believes. */
static void unblock_in_linux(void)
{
    sigset_t fault;
    sigemptyset(&fault);
    sigaddset(&fault, SIGSEGV);
    SC_NEXT(mask_function *, "pthread_sigmask")(SIG_UNBLOCK, &fault, NULL);
}

/* Blocks SIGSEGV in Linux, where the library's handler is not needed: for another program, or in a
 * child of vfork. */
static void block_in_linux(void)
{
    sigset_t fault;
    sigemptyset(&fault);
    sigaddset(&fault, SIGSEGV);
    SC_NEXT(mask_function *, "pthread_sigmask")(SIG_BLOCK, &fault, NULL);
}

/* The child of a vfork shares its parent's thread record, and must not change what is recorded
 * there, until it runs another program. From its first change on, its real mask is the one that it
 * believes
 * (`real_in_child` is its pid). */
static _Atomic pid_t real_in_child;

/* Is this the child of a vfork in which Linux's mask is, since its first change, the one that the
 * program believes it to have? */
static bool is_real_in_child(void)
{
    return atomic_load_explicit(&real_in_child, memory_order_relaxed) == getpid();
}

/* Called before the child of a vfork changes its mask: has Linux's mask be the one that the program
 * believes it to have, since nothing can be recorded in the parent's memory. */
static void make_real_in_child(void)
{
    if (is_real_in_child())
        return;
    atomic_store(&real_in_child, getpid());
    if (sc_signal_mask_blocks_fault())
        block_in_linux();
}

/* Called before exec: blocks SIGSEGV in Linux if the program believes it blocked, as the next
 * program inherits Linux's mask. (In a child of vfork that has changed its mask, Linux has it
 * blocked already.) A SIGSEGV that is kept for the thread is sent again, and so inherited as
 * pending; the library's handler gets it if the exec fails. */
void sc_signal_mask_begin_exec(void)
{
    if (!sc_signal_mask_really_blocks_fault() || is_real_in_child())
        return;
    block_in_linux();
    if (sc_signal_mask.has_pending_segv && !sc_sharing_is_vfork_child())
        sc_pending_segv_deliver();
}

/* Called after an exec that has failed: undoes sc_signal_mask_begin_exec. */
void sc_signal_mask_end_failed_exec(void)
{
    if (sc_signal_mask_blocks_fault() && !is_real_in_child())
        unblock_in_linux();
}

/* Called on a thread that is known to have begun with SIGSEGV blocked in Linux: unblocks it there,
 * and records that the program believes it blocked. */
void sc_signal_mask_begin_blocked(void)
{
    unblock_in_linux();
    sc_signal_mask_believe_blocked(sc_kernel_mask_block(0));
}

/* If this thread has SIGSEGV blocked in Linux, unblocks it there, and records that the program
 * believes it blocked. If not, what is recorded stays. */
void sc_signal_mask_begin(void)
{
    sigset_t now;
    if (SC_NEXT(mask_function *, "pthread_sigmask")(SIG_SETMASK, NULL, &now) != 0 ||
        sigismember(&now, SIGSEGV) != 1)
        return;
    sc_signal_mask_begin_blocked();
}

/* Called on a thread of the driver before it runs a function of the program: unblocks SIGSEGV
 * there, once pages may be protected by mprotect. On a thread of the library (`is_own`) changes no
 * mask, and returns whether its mask must leave SIGSEGV unblocked: also before that time, unless a
 * thread that blocks SIGSEGV was found, which keeps mprotect from being used. */
bool sc_guard_unblock_faults(bool is_own)
{
    if (is_own)
        sc_signal_mask_believe_unblocked();
    bool is_on = sc_sharing_is_on();
    if (is_on && !is_own)
        sc_signal_mask_begin();
    return is_on || (is_own && !sc_blocked_threads_were_found());
}

/* ---- mask calls ---- */

/* Returns the mask to pass to Linux in place of the program's `set`: a copy in `room` without
 * SIGSEGV, or `set` itself if it has none, or as long as the library does not need SIGSEGV. NULL
 * stays NULL. */
static const sigset_t *without_fault(const sigset_t *set, sigset_t *room)
{
    if (!set || !sc_sharing_is_on() || sigismember(set, SIGSEGV) != 1)
        return set;
    *room = *set;
    sigdelset(room, SIGSEGV);
    return room;
}

/* Changes the mask to one without SIGSEGV, while one is kept for the thread. That is sent again
 * with all signals blocked, so that Linux delivers it together with the other pending ones when the
 * new mask is set. `old` gets the mask that the program believed. */
static int unblock_with_pending(mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    uint64_t asked = sc_kernel_mask_of(set);
    uint64_t before = sc_kernel_mask_block(0);
    uint64_t next = how == SIG_UNBLOCK ? before & ~asked : asked;
    sigset_t mask;
    sc_pending_segv_deliver_with_mask();
    sc_signal_mask_believe_unblocked();
    memcpy(&mask, &next, sizeof next);
    int result = real(SIG_SETMASK, &mask, NULL);
    before |= SC_SIGNAL_BIT(SIGSEGV);
    if (old)
        memcpy(old, &before, sizeof before);
    return result;
}

/* Changes the mask where that blocks or unblocks SIGSEGV: for Linux without it, and records what
 * the program believes from now on. That is recorded first, since handlers of pending signals run
 * before the real call returns; a call that fails undoes it. `old` gets SIGSEGV if it was believed
 * blocked.
 */
static int change_believed(mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    sigset_t room;
    struct sc_signal_mask before = sc_signal_mask;
    bool was_blocked = sc_signal_mask_blocks_fault();
    bool blocks = how == SIG_SETMASK ? sigismember(set, SIGSEGV) == 1 : how == SIG_BLOCK;
    uint64_t kernel_mask = sc_kernel_mask_of(set);
    if (was_blocked && !blocks && before.has_pending_segv)
        return unblock_with_pending(real, how, set, old);
    if (how == SIG_BLOCK)
        kernel_mask |= sc_kernel_mask_block(0);
    set_belief(blocks, kernel_mask);
    int result = real(how, how == SIG_UNBLOCK ? set : without_fault(set, &room), old);
    if (result != 0)
        sc_signal_mask = before;
    else if (old && was_blocked)
        sigaddset(old, SIGSEGV);
    return result;
}

/* Changes or reads (`set` NULL) the mask by a call that leaves SIGSEGV alone, which the program
 * believes blocked: `old` gets it. Linux's new mask is recorded, so that the change does not look
 * as if it were made past the hooks. */
static int change_others(mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    uint64_t before = sc_signal_mask.kernel_mask;
    if (set)
        sc_signal_mask_note_other_signals(how, sc_kernel_mask_of(set));
    int result = real(how, set, old);
    if (result != 0)
        sc_signal_mask.kernel_mask = before;
    else if (old)
        sigaddset(old, SIGSEGV);
    return result;
}

/* Changes the mask once the library shares SIGSEGV with the program (it needs the faults on
 * protected pages): Linux's mask never has it. A call that concerns SIGSEGV in a child of vfork
 * changes Linux's mask instead: the child must not record anything in its parent's memory. */
static int change_shared(mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    bool was_blocked = sc_signal_mask_really_blocks_fault();
    bool names_fault = set && sigismember(set, SIGSEGV) == 1;
    if (sc_unlikely(was_blocked || names_fault) && sc_sharing_is_vfork_child()) {
        make_real_in_child();
        return real(how, set, old);
    }
    if (names_fault || (set && was_blocked && how == SIG_SETMASK))
        return change_believed(real, how, set, old);
    return was_blocked ? change_others(real, how, set, old) : real(how, set, old);
}

/* Changes the mask as long as the library does not need SIGSEGV (it protects no pages by mprotect
 * yet): the call is passed on. If another thread began sharing meanwhile, the call may have blocked
 * SIGSEGV in Linux, which is undone. */
static int change_unshared(mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    int result = real(how, set, old);
    if (sc_unlikely(sc_sharing_is_on()))
        sc_signal_mask_begin();
    return result;
}

/* Does the library itself change the mask now, in a call that it makes for itself? Not if a handler
 * of the program has interrupted that call: what it changes is the program's. */
bool sc_signal_mask_change_is_ours(void)
{
    return sc_unlikely(sc_is_inside()) && !sc_inside_is_interrupted();
}

/* Changes the mask in a call that the library makes for itself: libunwind blocks all signals while
 * it has its lock, and then restores the mask. SIGSEGV is left out, also before the library needs
 * it: else another thread might find this one to block it, and guard nothing (blocked_threads.h). A
 * set of all signals becomes one to block in addition, so that a SIGSEGV that the thread blocks
 * stays so. */
static int change_for_us(mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    sigset_t room;
    if (!sc_sharing_is_on() && set && (~sc_kernel_mask_of(set) & ~NOT_COMPARED) == 0) {
        how = SIG_BLOCK;
        room = *set;
        sigdelset(&room, SIGSEGV);
        set = &room;
    }
    return real(how, without_fault(set, &room), old);
}

/* Changes the mask, for the hooks of sigprocmask and pthread_sigmask (`real`: the C library's).
 * Calls that the library makes for itself, and those before it needs SIGSEGV, are treated apart:
 * nothing is recorded for them. Sets that may lie on a protected page are copied, since the system
 * call would fail there. The frame is noted meanwhile, as mask and record may not agree
 * (sc_signal_mask_is_changing). */
static int change_mask(mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    sigset_t asked;
    sigset_t former;
    if (sc_signal_mask_change_is_ours())
        return change_for_us(real, how, set, old);
    if (!sc_sharing_is_on())
        return change_unshared(real, how, set, old);
    if (set && sc_unlikely(sc_track_range_may_be_near(&sc_track, set))) {
        asked = *set;
        set = &asked;
    }
    sigset_t *into = old && sc_unlikely(sc_track_range_may_be_near(&sc_track, old)) ? &former : old;
    struct sc_frame outer = sc_frame_enter(&sc_signal_mask.change, SC_FRAME());
    int result = change_shared(real, how, set, into);
    sc_frame_leave(&sc_signal_mask.change, &outer);
    if (result == 0 && into != old)
        *old = former;
    return result;
}

/* The hook of sigprocmask. SIGSEGV stays unblocked in Linux: a fault on a page that the guard
 * protects would otherwise kill the process. */
SC_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(SC_NEXT(mask_function *, "sigprocmask"), how, set, old);
}

/* The hook of pthread_sigmask. SIGSEGV stays unblocked in Linux: a fault on a page that the guard
 * protects would otherwise kill the process. */
SC_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(SC_NEXT(mask_function *, "pthread_sigmask"), how, set, old);
}

/* Converts BSD's mask, an int, to a set, as the C library does. */
static sigset_t set_of(int mask)
{
    sigset_t set;
    uint64_t bits = (unsigned)mask;
    sigemptyset(&set);
    memcpy(&set, &bits, sizeof bits);
    return set;
}

/* Changes the mask for BSD's calls, which have signals 1 to 32 as an int. Returns the former one.
 */
static int change_bits(int how, int mask)
{
    sigset_t set = set_of(mask);
    sigset_t old;
    return sigprocmask(how, &set, &old) == 0 ? (int)sc_kernel_mask_of(&old) : -1;
}

SC_EXPORT int sigblock(int mask);
/* The hook of BSD's sigblock, which goes by that of sigprocmask: the C library's would pass it by.
 */
SC_EXPORT int sigblock(int mask)
{
    return change_bits(SIG_BLOCK, mask);
}

SC_EXPORT int sigsetmask(int mask);
/* The hook of BSD's sigsetmask, which goes by that of sigprocmask, as sigblock's. */
SC_EXPORT int sigsetmask(int mask)
{
    return change_bits(SIG_SETMASK, mask);
}

SC_EXPORT int siggetmask(void);
/* The hook of BSD's siggetmask, which shows the mask that the program believes it has. */
SC_EXPORT int siggetmask(void)
{
    return change_bits(SIG_BLOCK, 0);
}

/* Blocks or unblocks one signal other than SIGSEGV, for System V's calls. While SIGSEGV is believed
 * blocked, Linux's new mask is recorded, so that the change does not look as if it were made past
 * the hooks. */
static int change_one_signal(number_function *real, int how, int number)
{
    bool notes = sc_sharing_is_on() && number > 0 && number <= 64;
    if (notes && sc_signal_mask_really_blocks_fault())
        sc_signal_mask_note_other_signals(how, SC_SIGNAL_BIT(number));
    return real(number);
}

/* The hook of sighold, which blocks a signal. Once the library shares SIGSEGV with the program, it
 * is only recorded that the program has it blocked. */
SC_EXPORT int sighold(int number)
{
    if (number != SIGSEGV || !sc_sharing_is_on())
        return change_one_signal(SC_NEXT(number_function *, "sighold"), SIG_BLOCK, number);
    sc_signal_mask_believe_blocked(sc_kernel_mask_block(0));
    return 0;
}

/* The hook of sigrelse, which unblocks a signal. Once the library shares SIGSEGV with the program,
 * Linux has it unblocked already, and it is only recorded that the program has, too. */
SC_EXPORT int sigrelse(int number)
{
    int result = change_one_signal(SC_NEXT(number_function *, "sigrelse"), SIG_UNBLOCK, number);
    if (number == SIGSEGV && sc_sharing_is_on())
        sc_signal_mask_believe_unblocked();
    return result;
}

/* ---- calls that wait under a mask of their own ---- */

/* Called before a call that waits under a mask of its own (sigsuspend, ppoll); returns the mask to
 * give to it, without SIGSEGV. If the two masks differ in SIGSEGV, as the program has them, what it
 * believes changes for the time of the wait. All signals are then blocked in Linux before and after
 * it, so that handlers run only within the call, and find the right belief. A child of vfork must
 * not record that in its parent's memory. */
const sigset_t *sc_signal_mask_begin_wait(struct sc_masked_wait *wait, const sigset_t *mask,
                                          struct sc_frame frame)
{
    wait->differs = false;
    if (!mask || !sc_sharing_is_on())
        return mask;
    bool blocks_meanwhile = sigismember(mask, SIGSEGV) == 1;
    wait->before = sc_signal_mask_really_blocks_fault();
    mask = without_fault(mask, &wait->room);
    if (sc_likely(wait->before == blocks_meanwhile) || sc_sharing_is_vfork_child())
        return mask;
    wait->differs = true;
    wait->blocked = sc_kernel_mask_block(~SC_KERNEL_MASK_LIBC);
    wait->outer = sc_signal_mask.other;
    wait->handler = sc_signal_mask.handler;
    sc_signal_mask.other = (struct sc_other_mask){
        .wait = frame,
        .back = wait->blocked | (wait->before ? SC_SIGNAL_BIT(SIGSEGV) : 0),
        .meanwhile = sc_kernel_mask_of(mask),
    };
    set_belief(blocks_meanwhile, sc_signal_mask.other.meanwhile);
    return mask;
}

/* Called after a call that has waited under a mask of its own: restores mask and belief, if the two
 * masks differed in SIGSEGV. A handler that ended the wait has done so when it returned (its frame
 * had the mask to go back to), and has cleared `wait`. */
void sc_signal_mask_end_wait(const struct sc_masked_wait *wait)
{
    if (sc_likely(!wait->differs))
        return;
    bool handler_restored = sc_signal_mask.other.wait.place == 0;
    sc_signal_mask.other = wait->outer;
    if (handler_restored)
        return;
    if (wait->before)
        sc_signal_mask_block_fault(wait->handler, wait->blocked);
    else
        sc_signal_mask_believe_unblocked();
    sc_kernel_mask_set(wait->blocked);
}

/* The hook of sigsuspend, which waits for a signal under a mask of its own. (The hooks of such
 * calls that also pass memory to Linux, as ppoll, are in io.def.) The mask is copied, as it may lie
 * on a protected page. */
SC_EXPORT int sigsuspend(const sigset_t *mask)
{
    struct sc_masked_wait wait;
    sigset_t given = *mask;
    const sigset_t *meanwhile = sc_signal_mask_begin_wait(&wait, &given, SC_FRAME());
    int result = SC_NEXT(suspend_function *, "sigsuspend")(meanwhile);
    sc_signal_mask_end_wait(&wait);
    return result;
}

SC_EXPORT int __sigsuspend(const sigset_t *mask);
/* The hook of the C library's second name for sigsuspend. */
SC_EXPORT int __sigsuspend(const sigset_t *mask)
{
    return sigsuspend(mask);
}

SC_EXPORT int bsd_sigpause(int mask) __asm__("sigpause");
/* The hook of the symbol sigpause: BSD's function of that name, which waits under a mask. (Two
 * functions were called so; the other one is __xpg_sigpause.) */
SC_EXPORT int bsd_sigpause(int mask)
{
    sigset_t set = set_of(mask);
    return sigsuspend(&set);
}

SC_EXPORT int __xpg_sigpause(int number);
/* The hook of System V's sigpause, which waits with one signal unblocked. */
SC_EXPORT int __xpg_sigpause(int number)
{
    sigset_t set;
    return sigprocmask(SIG_BLOCK, NULL, &set) == 0 && sigdelset(&set, number) == 0
               ? sigsuspend(&set)
               : -1;
}

SC_EXPORT int __sigpause(int number_or_mask, int is_number);
/* The hook of what older headers make of both functions called sigpause. */
SC_EXPORT int __sigpause(int number_or_mask, int is_number)
{
    return is_number ? __xpg_sigpause(number_or_mask) : bsd_sigpause(number_or_mask);
}

/* ---- contexts and jumps, which bring a mask of their own ---- */

/* Records whether the program has SIGSEGV blocked from now on, by a mask that the C library is
 * about to set in Linux, without SIGSEGV. If it has not, one that is kept for the thread is sent
 * again, to be delivered when the mask is set. */
static void believe_with_mask(bool blocked, const sigset_t *mask)
{
    if (!blocked)
        sc_pending_segv_deliver_with_mask();
    set_belief(blocked, sc_kernel_mask_of(mask));
}

/* Removes SIGSEGV from the mask of a context that is about to be entered, so that Linux's mask does
 * not get it. Returns whether the program means the context to block it. */
static bool remove_fault_from(const ucontext_t *context)
{
    ucontext_t *entered = (ucontext_t *)(uintptr_t)context;
    bool blocked = sc_saved_masks_blocks(&entered->uc_sigmask);
    if (blocked)
        sigdelset(&entered->uc_sigmask, SIGSEGV);
    return blocked;
}

/* Unprotects a context that is about to be entered, and records its stack: Linux reads the context,
 * and the thread then runs on the stack, so neither may be protected. In a handler that interrupted
 * a lock of the library the former is left out, as it would wait for that lock. */
static void note_entered_stack(const ucontext_t *context)
{
    if (!sc_library_lock_depth)
        sc_guard_unprotect(context, sizeof *context);
    sc_guard_note_stack(STACK_OF(context));
}

/* The hook of setcontext, which goes on with a saved context and its mask. */
SC_EXPORT int setcontext(const ucontext_t *to)
{
    note_entered_stack(to);
    if (sc_sharing_is_on())
        believe_with_mask(remove_fault_from(to), &to->uc_sigmask);
    return SC_NEXT(enter_function *, "setcontext")(to);
}

/* Called when swapcontext returns: records whether the program has SIGSEGV blocked in the context
 * that goes on (Linux never has). Not inline: that may be on another thread, whose thread-local
 * data lies elsewhere. */
static __attribute__((noinline)) void believe_after_switch(bool blocked, uint64_t kernel_mask)
{
    if (sc_sharing_is_on())
        set_belief(blocked, kernel_mask);
}

/* The hook of swapcontext, which saves the present context in `from` and goes on with `to`. It
 * returns when somebody enters `from`, on whatever thread, with the mask of this moment: whether
 * the program has SIGSEGV blocked is stored beside that mask (Linux never has), and recorded again
 * at the end. */
SC_EXPORT int swapcontext(ucontext_t *from, const ucontext_t *to)
{
    note_entered_stack(to);
    if (!sc_sharing_is_on())
        return SC_NEXT(switch_function *, "swapcontext")(from, to);
    bool blocked = sc_signal_mask_really_blocks_fault();
    uint64_t kernel_mask = sc_signal_mask.kernel_mask;
    sc_saved_masks_note(&from->uc_sigmask, blocked);
    set_belief(remove_fault_from(to), sc_kernel_mask_of(&to->uc_sigmask));
    int result = SC_NEXT(switch_function *, "swapcontext")(from, to);
    believe_after_switch(blocked, kernel_mask);
    return result;
}

/* A handler is left by a jump that restores no mask, so its mask stays. If the program believes
 * SIGSEGV blocked because of the handler, it does so from now on for good; is_left_behind tells
 * that the program may not have meant that. */
static void leave_mask_behind(void)
{
    struct sc_signal_mask *mask = &sc_signal_mask;
    if (!mask->handler.place || !sc_signal_mask_blocks_fault() || sc_sharing_is_vfork_child())
        return;
    mask->handler = for_good;
    mask->is_left_behind = true;
}

/* Called before longjmp and its kin: records whether the program has SIGSEGV blocked after the jump
 * (Linux never has). With a saved mask that was stored beside the mask; without one, what holds in
 * the handler that is left stays. */
static void adopt_saved_mask(struct __jmp_buf_tag *environment)
{
    if (!sc_sharing_is_on())
        return;
    if (environment->__mask_was_saved) {
        bool blocked = sc_saved_masks_blocks(&environment->__saved_mask);
        sc_saved_masks_clear(&environment->__saved_mask);
        believe_with_mask(blocked, &environment->__saved_mask);
    } else {
        leave_mask_behind();
    }
}

/* Defines the hook of one of the functions that jump to a saved place. */
#define JUMP(name)                                                                                 \
    SC_EXPORT void name(struct __jmp_buf_tag environment[1], int value)                            \
    {                                                                                              \
        adopt_saved_mask(environment);                                                             \
        SC_NEXT(jump_function *, #name)(environment, value);                                       \
        __builtin_unreachable();                                                                   \
    }

#undef longjmp
#undef siglongjmp
extern void __longjmp_chk(struct __jmp_buf_tag environment[1], int value) __attribute__((noreturn));

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
