#include "interpose/signals/single_step.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/now.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/base/spare_stack.h"
#include "interpose/signals/main_thread.h"
#include "interpose/signals/signal_mask.h"
#include "interpose/signals/signals.h"
#include "interpose/signals/upwards.h"
#include "report/file.h"

#include "common/poison.h"

#if defined(__x86_64__)

enum { TRAP_FLAG = 0x100, TRAPPED = 2 /* TRAP_TRACE */, TRACED_KEPT_NS = 100 * 1000 * 1000 };

typedef int sigaction_function(int number, const struct sigaction *action, struct sigaction *old);

static _Atomic int32_t stepped; /* the thread that is stepped; 0: none */
/* The step of the stepped thread, which alone uses it. */
static struct {
    uintptr_t page, pc;   /* the page made accessible, and the instruction */
    uint64_t mask_before; /* the thread's own mask, which it gets back after the step */
    sc_single_step_done *done;
    bool is_repeated;
} step;

/* Does the machine trap after an instruction that runs with the trap flag? */
enum { UNKNOWN, TRAPS, TRAPS_NOT };
static _Atomic int machine_traps;

/* Calls the C library's sigaction, past the library's hook, which would record the action as the
 * program's. */
static int real_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return SC_NEXT(sigaction_function *, "sigaction")(number, action, old);
}

/* Does a thread run a stepped instruction? Then SIGTRAP's action is the library's. */
bool sc_single_step_is_under_way(void)
{
    return atomic_load(&stepped) != 0;
}

/* Is the calling thread the one that is stepped? One load, as long as none is. */
static bool is_stepped_here(void)
{
    int32_t thread = atomic_load_explicit(&stepped, memory_order_relaxed);
    return __builtin_expect(thread != 0, 0) && thread == sc_thread_id();
}

/* ---- the frame ---- */

/* Sets the trap flag in the frame to which the fault's handler returns, so that the processor traps
 * after one instruction. Blocks all signals there but those of faults, which are the instruction's
 * own. So no handler runs before the trap, finds the flag in its frame, or takes the frame
 * elsewhere.
 */
static void set_flag_in_frame(ucontext_t *context)
{
    uint64_t mask = SC_KERNEL_MASK_ALL_BUT_FAULTS | step.mask_before;
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
}

/* Removes the trap flag and the step's mask from the frame, which gets the thread's own mask. The
 * return from the fault's handler has recorded the step's mask as Linux's (sigreturn.c), so the
 * thread's is recorded again. */
static void clear_flag_in_frame(ucontext_t *context)
{
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    memcpy(&context->uc_sigmask, &step.mask_before, sizeof step.mask_before);
    sc_signal_mask_note_kernel_mask(step.mask_before);
}

/* Does the interrupted code run with the trap flag: by a step, or because the program has set it?
 */
static bool has_flag(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG;
}

/* ---- after the instruction ---- */

/* Calls the function that protects the page again; on a spare stack. */
static void call_step_done(void *unused)
{
    (void)unused;
    step.done(step.page, step.is_repeated);
}

/* Gives SIGTRAP its default action again, which the program had before the step: else no step would
 * have begun. */
static void set_default_action(void)
{
    struct sigaction by_default;
    memset(&by_default, 0, sizeof by_default);
    real_sigaction(SIGTRAP, &by_default, NULL);
}

/* Ends the step of this thread: another thread may be stepped from now on. */
static void end_step(void)
{
    set_default_action();
    atomic_store(&stepped, 0);
}

/* Called after the stepped instruction: protects the page again (`done`; NULL: a mere try whether
 * the machine traps), and ends the step. `is_repeated`: the instruction has done only a part of its
 * work, and will go on. */
static void finish_step(bool is_repeated)
{
    step.is_repeated = is_repeated;
    if (step.done)
        sc_spare_stack_try(call_step_done, NULL, &step.mask_before);
    end_step();
}

/* Has Linux kill the process, as without the library, for a SIGTRAP that no step has caused: sets
 * the default action and sends the signal again, which is blocked until the library's handler
 * returns. */
static void kill_by_trap(int number)
{
    set_default_action();
    sc_kernel_call(SYS_tgkill, getpid(), sc_kernel_call(SYS_gettid), number);
}

/* The handler of SIGTRAP while a thread is stepped: handles the trap after that thread's
 * instruction. If that is still the next one, as with a string instruction (rep), it has done a
 * part of its work. Any other trap ends the process, as it would have without the library. */
static void on_trap(int number, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    SC_KEEP_ERRNO();
    if (info->si_code == TRAPPED && is_stepped_here()) {
        clear_flag_in_frame(context);
        finish_step((uintptr_t)context->uc_mcontext.gregs[REG_RIP] == step.pc);
        sc_main_thread_note_unblocked();
    } else {
        kill_by_trap(number);
    }
}

/* ---- before it ---- */

/* Is the process traced (or does /proc not tell)? Then SIGTRAP is the debugger's, and nothing is
 * stepped. The answer is kept for TRACED_KEPT_NS (0.1 s). */
static bool check_traced(void)
{
    static _Atomic uint64_t good_until_ns;
    static _Atomic bool traced;
    static const char name[] = "\nTracerPid:\t";
    char text[1024];
    uint64_t now_ns = sc_coarse_now_ns();
    if (now_ns < atomic_load_explicit(&good_until_ns, memory_order_relaxed))
        return atomic_load_explicit(&traced, memory_order_relaxed);
    long size_bytes = sc_file_read("/proc/self/status", text, sizeof text - 1);
    text[size_bytes > 0 ? size_bytes : 0] = '\0';
    const char *tracer = strstr(text, name);
    bool is_now = !tracer || tracer[sizeof name - 1] != '0';
    atomic_store_explicit(&traced, is_now, memory_order_relaxed);
    atomic_store_explicit(&good_until_ns, now_ns + TRACED_KEPT_NS, memory_order_relaxed);
    return is_now;
}

/* Does the frame of the fault lie on the alternate stack? Then the frame of the trap goes there,
 * too: the thread's own stack may be used up. */
static bool is_on_alternate_stack(const ucontext_t *context)
{
    return (uintptr_t)context - (uintptr_t)context->uc_stack.ss_sp < context->uc_stack.ss_size;
}

/* Installs the library's handler of SIGTRAP, to run on the alternate stack or the thread's. False:
 * the program has an action of its own for it, or Linux refuses. */
static bool install_trap_handler(bool alternate)
{
    struct sigaction found;
    struct sigaction ours;
    uint64_t mask = SC_KERNEL_MASK_ALL_BUT_FAULTS | SC_SIGNAL_BIT(SIGTRAP);
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = on_trap;
    ours.sa_flags = SA_SIGINFO | (int)SA_RESTART | (alternate ? SA_ONSTACK : 0);
    memcpy(&ours.sa_mask, &mask, sizeof mask);
    struct sc_signals_lock lock = sc_signals_lock();
    bool taken = real_sigaction(SIGTRAP, NULL, &found) == 0 && found.sa_handler == SIG_DFL &&
                 real_sigaction(SIGTRAP, &ours, NULL) == 0;
    sc_signals_unlock(&lock);
    return taken;
}

/* Finds out whether the machine traps: sets the trap flag on this thread for one nop, after which
 * on_trap ends the step. An emulator may not know the flag. After the trap another thread may
 * become the stepped one at once, so it is only asked whether this thread still is. */
static bool try_machine(void)
{
    step.done = NULL;
    step.mask_before = sc_kernel_mask_block(0);
    __asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq\n\tnop"
                     :
                     : "i"(TRAP_FLAG)
                     : "cc", "memory");
    return !is_stepped_here();
}

/* Makes this thread the stepped one, and installs the handler of SIGTRAP. False: another thread is,
 * or the program has an action for SIGTRAP. */
static bool begin_step(bool alternate)
{
    int32_t none = 0;
    if (!atomic_compare_exchange_strong(&stepped, &none, sc_thread_id()))
        return false;
    if (install_trap_handler(alternate))
        return true;
    atomic_store(&stepped, 0);
    return false;
}

/* Returns whether the machine traps after an instruction with the trap flag, which the first call
 * finds out. That runs on the current stack, since the alternate one may have the fault's frame. */
static bool try_trap(void)
{
    if (atomic_load(&machine_traps) == UNKNOWN && begin_step(/*alternate*/ false)) {
        atomic_store(&machine_traps, try_machine() ? TRAPS : TRAPS_NOT);
        if (atomic_load(&machine_traps) == TRAPS_NOT)
            end_step();
    }
    return atomic_load(&machine_traps) == TRAPS;
}

/* Called in the handler of a fault: has the faulting instruction run alone when the handler
 * returns, and `done` be called for the page after it. False: not now or never, as the thread
 * blocks SIGTRAP, a debugger or the program itself uses the trap flag, the machine does not trap,
 * or another thread is being stepped. */
bool sc_single_step_begin(const struct sc_fault *fault, uintptr_t page, sc_single_step_done *done)
{
    ucontext_t *context = (ucontext_t *)(uintptr_t)fault->context;
    SC_KEEP_ERRNO();
    bool begun = !(fault->mask & SC_SIGNAL_BIT(SIGTRAP)) && !has_flag(context) && !check_traced() &&
                 try_trap() && begin_step(is_on_alternate_stack(context));
    if (begun) {
        step.page = page;
        step.pc = fault->pc;
        step.mask_before = fault->mask;
        step.done = done;
        set_flag_in_frame(context);
    }
    return begun;
}

/* Has a step been begun for this frame, whose instruction is still to run? The flag in the frame
 * tells it from a fault that `done` itself causes on the stepped thread. */
bool sc_single_step_is_begun(const void *context)
{
    return is_stepped_here() && has_flag(context);
}

/* Called first in each handler: if a step was begun for this frame, its instruction has faulted, or
 * a signal has come before it. Ends the step as if the instruction had run. */
void sc_single_step_cancel(void *context)
{
    SC_KEEP_ERRNO();
    if (sc_single_step_is_begun(context)) {
        clear_flag_in_frame(context);
        finish_step(/*is_repeated*/ false);
    }
}

/* Ends the step that was begun for the frame of this fault, if any, without calling `done`: the
 * page was not made accessible after all. */
void sc_single_step_forget(const struct sc_fault *fault)
{
    ucontext_t *context = (ucontext_t *)(uintptr_t)fault->context;
    SC_KEEP_ERRNO();
    if (sc_single_step_is_begun(context)) {
        clear_flag_in_frame(context);
        end_step();
    }
}

/* In a forked child: ends the step of a thread that is not in the child. */
void sc_single_step_child(void)
{
    if (!sc_single_step_is_under_way())
        return;
    set_default_action();
    atomic_store(&stepped, 0);
}

#else

/* Refuses to single-step, which is implemented for x86-64 alone. */
bool sc_single_step_begin(const struct sc_fault *fault, uintptr_t page, sc_single_step_done *done)
{
    (void)fault;
    (void)page;
    (void)done;
    return false;
}

/* No step is ever begun here, so there is none to end. */
void sc_single_step_cancel(void *context)
{
    (void)context;
}

/* No step is ever begun here. */
bool sc_single_step_is_begun(const void *context)
{
    (void)context;
    return false;
}

/* No step is ever begun here, so there is none to end. */
void sc_single_step_forget(const struct sc_fault *fault)
{
    (void)fault;
}

/* No step is ever begun here. */
bool sc_single_step_is_under_way(void)
{
    return false;
}

/* No step is ever begun here, so there is none to forget. */
void sc_single_step_child(void)
{
}

#endif
