#undef _FORTIFY_SOURCE /* it would give longjmp and its like the name __longjmp_chk */

#include "interpose/signals/signal_mask.h"

#include <pthread.h>
#include <sched.h>
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

/* Does the program believe that this thread blocks SIGSEGV? A belief that is bound to a handler
 * ends with that handler, which may be left in ways that no hook sees; these have restored its
 * mask. */
bool sc_signal_mask_blocks_fault(void)
{
    const struct sc_signal_mask *mask = &sc_signal_mask;
    return sc_unlikely(mask->blocks_fault) &&
           (mask->handler.place == 0 || sc_frame_lives(&mask->handler));
}

bool sc_signal_mask_blocks_fault_above(uintptr_t place)
{
    return sc_signal_mask_blocks_fault() && sc_signal_mask.handler.place != place;
}

/* Signals that are not compared: the C library's own two, the two that no mask can have, and the
 * last two, which qemu-user keeps out of masks. */
#define NOT_COMPARED                                                                               \
    (SC_KERNEL_MASK_LIBC | SC_SIGNAL_BIT(SIGKILL) | SC_SIGNAL_BIT(SIGSTOP) | SC_SIGNAL_BIT(63) |   \
     SC_SIGNAL_BIT(64))

/* Drops the belief if Linux's mask shows that the program has changed its mask past the hooks. */
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

/* Does the program believe that this thread blocks SIGSEGV? Reads Linux's mask to check whether
 * that can still be so. */
bool sc_signal_mask_really_blocks_fault(void)
{
    if (sc_likely(!sc_signal_mask_blocks_fault()))
        return false;
    sc_signal_mask_compare(sc_kernel_mask_block(0));
    return sc_signal_mask_blocks_fault();
}

/* Records that the program blocks SIGSEGV. In Linux it stays unblocked, so that faults on protected
 * pages reach the library's handler. */
void sc_signal_mask_block_fault(struct sc_frame handler, uint64_t kernel_mask)
{
    sc_signals_prepare_pending();
    sc_signal_mask.kernel_mask = kernel_mask;
    sc_signal_mask.handler = handler;
    sc_signal_mask.blocks_fault = true;
}

static const struct sc_frame for_good; /* no handler: the belief has no end of its own */

/* Records that the program believes SIGSEGV blocked. A program that reads a mask left behind by a
 * handler and sets it again does not show that it wants SIGSEGV blocked: then is_left_behind stays.
 */
void sc_signal_mask_believe_blocked(uint64_t kernel_mask)
{
    if (sc_sharing_is_vfork_child())
        return;
    if (!sc_signal_mask_blocks_fault())
        sc_signal_mask.is_left_behind = false;
    sc_signal_mask_block_fault(for_good, kernel_mask);
}

/* Records that the program has unblocked SIGSEGV; a kept one is delivered now. */
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

void sc_signal_mask_drop_stale_belief(void)
{
    const struct sc_signal_mask *mask = &sc_signal_mask;
    if (sc_unlikely(mask->is_left_behind) && mask->handler.place == 0)
        sc_signal_mask_believe_unblocked();
}

/* Records whether the program believes SIGSEGV blocked. `kernel_mask`: the thread's mask in Linux.
 */
static void set_belief(bool blocked, uint64_t kernel_mask)
{
    if (blocked)
        sc_signal_mask_believe_blocked(kernel_mask & ~SC_SIGNAL_BIT(SIGSEGV));
    else
        sc_signal_mask_believe_unblocked();
}

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

/* Blocks SIGSEGV in Linux. */
static void block_in_linux(void)
{
    sigset_t fault;
    sigemptyset(&fault);
    sigaddset(&fault, SIGSEGV);
    SC_NEXT(mask_function *, "pthread_sigmask")(SIG_BLOCK, &fault, NULL);
}

/* The child of a vfork shares its parent's thread record, and must not change beliefs there, until
 * it runs another program. From its first change on, its real mask is the one that it believes
 * (`real_in_child` is its pid). */
static _Atomic pid_t real_in_child;

/* Is this the child of a vfork in which Linux's mask is the one that the program believes? */
static bool is_real_in_child(void)
{
    return atomic_load_explicit(&real_in_child, memory_order_relaxed) == getpid();
}

/* Makes Linux's mask the one that the program believes; in the child of a vfork, before its first
 * change. */
static void make_real_in_child(void)
{
    if (is_real_in_child())
        return;
    atomic_store(&real_in_child, getpid());
    if (sc_signal_mask_blocks_fault())
        block_in_linux();
}

/* Blocks SIGSEGV in Linux if the program believes it blocked. A kept signal becomes pending, and is
 * delivered to the library's handler again if no program is started. */
void sc_signal_mask_begin_exec(void)
{
    if (!sc_signal_mask_really_blocks_fault() || is_real_in_child())
        return;
    block_in_linux();
    if (sc_signal_mask.has_pending_segv && !sc_sharing_is_vfork_child())
        sc_pending_segv_deliver();
}

void sc_signal_mask_end_failed_exec(void)
{
    if (sc_signal_mask_blocks_fault() && !is_real_in_child())
        unblock_in_linux();
}

void sc_signal_mask_begin_blocked(void)
{
    unblock_in_linux();
    sc_signal_mask_believe_blocked(sc_kernel_mask_block(0));
}

/* Unblocks SIGSEGV and records the belief, if the thread really blocks it. If not, the belief stays
 * as it is. */
void sc_signal_mask_begin(void)
{
    sigset_t now;
    if (SC_NEXT(mask_function *, "pthread_sigmask")(SIG_SETMASK, NULL, &now) != 0 ||
        sigismember(&now, SIGSEGV) != 1)
        return;
    sc_signal_mask_begin_blocked();
}

/* Makes SIGSEGV deliverable to the calling thread, if pages are protected by mprotect. `is_own`:
 * the thread is the library's; returns whether its mask must leave SIGSEGV unblocked. */
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

/* Returns the mask to pass to Linux: `set`, or a copy in `room` without SIGSEGV. NULL stays NULL.
 */
static const sigset_t *without_fault(const sigset_t *set, sigset_t *room)
{
    if (!set || !sc_sharing_is_on() || sigismember(set, SIGSEGV) != 1)
        return set;
    *room = *set;
    sigdelset(room, SIGSEGV);
    return room;
}

/* Unblocks SIGSEGV while one is kept, so that it is delivered together with other pending signals.
 */
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

/* Changes the mask and the belief. The belief changes first, since handlers of pending signals run
 * before the real call returns. */
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

/* Changes the mask for other signals. The program still believes SIGSEGV blocked, so `old` gets
 * SIGSEGV. */
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

/* Changes the mask while SIGSEGV is shared. */
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

/* Changes the mask while SIGSEGV is not shared. If sharing began meanwhile the call may have really
 * blocked SIGSEGV. */
static int change_unshared(mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    int result = real(how, set, old);
    if (sc_unlikely(sc_sharing_is_on()))
        sc_signal_mask_begin();
    return result;
}

bool sc_signal_mask_change_is_ours(void)
{
    return sc_unlikely(sc_is_inside()) && !sc_inside_is_interrupted();
}

/* Changes the mask for libunwind, which blocks all signals while it has its lock, and then restores
 * the mask. SIGSEGV is left out, or the thread would be taken for one that blocks it
 * (blocked_threads.h). */
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

/* Changes the mask, for all hooks of mask calls. Sets that may lie on a protected page are copied,
 * since the system call would fail there. */
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

SC_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(SC_NEXT(mask_function *, "sigprocmask"), how, set, old);
}

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

static int change_bits(int how, int mask)
{
    sigset_t set = set_of(mask);
    sigset_t old;
    return sigprocmask(how, &set, &old) == 0 ? (int)sc_kernel_mask_of(&old) : -1;
}

SC_EXPORT int sigblock(int mask);
SC_EXPORT int sigblock(int mask)
{
    return change_bits(SIG_BLOCK, mask);
}

SC_EXPORT int sigsetmask(int mask);
SC_EXPORT int sigsetmask(int mask)
{
    return change_bits(SIG_SETMASK, mask);
}

SC_EXPORT int siggetmask(void);
SC_EXPORT int siggetmask(void)
{
    return change_bits(SIG_BLOCK, 0);
}

/* Changes the mask for System V's calls, which name one signal. */
static int change_one_signal(number_function *real, int how, int number)
{
    bool notes = sc_sharing_is_on() && number > 0 && number <= 64;
    if (notes && sc_signal_mask_really_blocks_fault())
        sc_signal_mask_note_other_signals(how, SC_SIGNAL_BIT(number));
    return real(number);
}

SC_EXPORT int sighold(int number)
{
    if (number != SIGSEGV || !sc_sharing_is_on())
        return change_one_signal(SC_NEXT(number_function *, "sighold"), SIG_BLOCK, number);
    sc_signal_mask_believe_blocked(sc_kernel_mask_block(0));
    return 0;
}

SC_EXPORT int sigrelse(int number)
{
    int result = change_one_signal(SC_NEXT(number_function *, "sigrelse"), SIG_UNBLOCK, number);
    if (number == SIGSEGV && sc_sharing_is_on())
        sc_signal_mask_believe_unblocked();
    return result;
}

/* ---- calls that wait under a mask of their own ---- */

/* Prepares a call that waits under its own mask. If that differs in SIGSEGV from the thread's, all
 * signals are really blocked before the call and from its end on. So handlers run only within the
 * call, and find the right belief there. */
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

/* Ends a call that waits under its own mask. A handler that ended the call has restored everything
 * when it returned. */
void sc_signal_mask_end_wait(const struct sc_masked_wait *wait)
{
    if (sc_likely(!wait->differs))
        return;
    bool came_out = sc_signal_mask.other.wait.place == 0;
    sc_signal_mask.other = wait->outer;
    if (came_out)
        return;
    if (wait->before)
        sc_signal_mask_block_fault(wait->handler, wait->blocked);
    else
        sc_signal_mask_believe_unblocked();
    sc_kernel_mask_set(wait->blocked);
}

/* The hooks of calls that also pass memory to Linux (ppoll and the like) are in io.def. */
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
SC_EXPORT int __sigsuspend(const sigset_t *mask)
{
    return sigsuspend(mask);
}

/* Two functions were called sigpause; the symbol is BSD's, which takes a mask. */
SC_EXPORT int bsd_sigpause(int mask) __asm__("sigpause");
SC_EXPORT int bsd_sigpause(int mask)
{
    sigset_t set = set_of(mask);
    return sigsuspend(&set);
}

SC_EXPORT int __xpg_sigpause(int number);
SC_EXPORT int __xpg_sigpause(int number)
{
    sigset_t set;
    return sigprocmask(SIG_BLOCK, NULL, &set) == 0 && sigdelset(&set, number) == 0
               ? sigsuspend(&set)
               : -1;
}

SC_EXPORT int __sigpause(int number_or_mask, int is_number);
SC_EXPORT int __sigpause(int number_or_mask, int is_number)
{
    return is_number ? __xpg_sigpause(number_or_mask) : bsd_sigpause(number_or_mask);
}

/* ---- contexts and jumps, which bring a mask of their own ---- */

/* Sets the belief for a mask that is about to be set. A kept signal that it unblocks is delivered
 * with that. */
static void believe_with_mask(bool blocked, const sigset_t *mask)
{
    if (!blocked)
        sc_pending_segv_deliver_with_mask();
    set_belief(blocked, sc_kernel_mask_of(mask));
}

/* Removes SIGSEGV from the mask of a context that is about to be entered. Returns whether the mask
 * blocked it. */
static bool remove_fault_from(const ucontext_t *context)
{
    ucontext_t *entered = (ucontext_t *)(uintptr_t)context;
    bool blocked = sc_saved_masks_blocks(&entered->uc_sigmask);
    if (blocked)
        sigdelset(&entered->uc_sigmask, SIGSEGV);
    return blocked;
}

/* Unprotects a context that is about to be entered, and records its stack: Linux reads the context,
 * and the thread then runs on the stack, so neither may be protected. */
static void note_entered_stack(const ucontext_t *context)
{
    if (!sc_library_lock_depth)
        sc_guard_unprotect(context, sizeof *context);
    sc_guard_note_stack(STACK_OF(context));
}

SC_EXPORT int setcontext(const ucontext_t *to)
{
    note_entered_stack(to);
    if (sc_sharing_is_on())
        believe_with_mask(remove_fault_from(to), &to->uc_sigmask);
    return SC_NEXT(enter_function *, "setcontext")(to);
}

/* Not inline: after the switch the code may run on another thread, whose thread-local data lies
 * elsewhere. */
static __attribute__((noinline)) void believe_after_switch(bool blocked, uint64_t kernel_mask)
{
    if (sc_sharing_is_on())
        set_belief(blocked, kernel_mask);
}

/* The call returns when somebody enters `from`, on whatever thread, with the mask of this moment.
 */
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

/* Makes the belief permanent when a handler is left by a jump that restores no mask: the handler's
 * mask stays. */
static void leave_mask_behind(void)
{
    struct sc_signal_mask *mask = &sc_signal_mask;
    if (!mask->handler.place || !sc_signal_mask_blocks_fault() || sc_sharing_is_vfork_child())
        return;
    mask->handler = for_good;
    mask->is_left_behind = true;
}

/* Sets the belief for a jump: that of the saved mask, or, without one, that of the handler that is
 * left. */
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
