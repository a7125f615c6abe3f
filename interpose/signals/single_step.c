#include "interpose/signals/single_step.h"

#include <fcntl.h>
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
static struct {
    uintptr_t page, pc;
    uint64_t mask_before; /* the thread's own mask, which it gets back after the step */
    sc_single_step_done *done;
    bool is_repeated;
} step; /* of the stepped thread, which alone uses it */

/* Does the machine trap after an instruction with the flag? */
enum { UNKNOWN, TRAPS, TRAPS_NOT };
static _Atomic int machine_traps;

static int real_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return SC_NEXT(sigaction_function *, "sigaction")(number, action, old);
}

bool sc_single_step_is_under_way(void)
{
    return atomic_load(&stepped) != 0;
}

static bool is_stepped_here(void)
{
    int32_t thread = atomic_load_explicit(&stepped, memory_order_relaxed);
    return __builtin_expect(thread != 0, 0) && thread == sc_thread_id();
}

/* ---- the frame ---- */

/* Sets the trap flag in the fault's frame, and blocks all signals but those of faults, which are
 * the instruction's own. So no handler runs before the trap, finds the flag in its frame, or takes
 * the frame elsewhere. */
static void set_flag_in_frame(ucontext_t *context)
{
    uint64_t mask = SC_KERNEL_MASK_ALL_BUT_FAULTS | step.mask_before;
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
}

/* Removes the flag and the step's mask from the frame. The library's sigreturn from the fault has
 * recorded the step's mask as Linux's (sigreturn.c), so the thread's is recorded again. */
static void clear_flag_in_frame(ucontext_t *context)
{
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    memcpy(&context->uc_sigmask, &step.mask_before, sizeof step.mask_before);
    sc_signal_mask_note_kernel_mask(step.mask_before);
}

static bool has_flag(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG;
}

/* ---- after the instruction ---- */

static void call_step_done(void *unused)
{
    (void)unused;
    step.done(step.page, step.is_repeated);
}

static void set_default_action(void)
{
    struct sigaction by_default;
    memset(&by_default, 0, sizeof by_default);
    real_sigaction(SIGTRAP, &by_default, NULL);
}

static void end_step(void)
{
    set_default_action();
    atomic_store(&stepped, 0);
}

/* Calls `done` after the instruction, and ends the step. */
static void finish_step(bool is_repeated)
{
    step.is_repeated = is_repeated;
    if (step.done)
        sc_spare_stack_try(call_step_done, NULL, &step.mask_before);
    end_step();
}

/* Ends the process, as without the library, for a SIGTRAP that no step has caused: sets the default
 * action and sends the signal again, which is blocked until the library's handler returns. */
static void kill_by_trap(int number)
{
    set_default_action();
    sc_kernel_call(SYS_tgkill, getpid(), sc_kernel_call(SYS_gettid), number);
}

/* Handles the trap after the instruction. Any other trap ends the process, as it would have without
 * the library. */
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

/* Is the process traced? Then SIGTRAP is the debugger's. The answer is kept for TRACED_KEPT_NS. */
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

/* Does the fault's frame lie on the alternate stack? The trap's is put there, too: the thread's own
 * stack may be used up. */
static bool is_on_alternate_stack(const ucontext_t *context)
{
    return (uintptr_t)context - (uintptr_t)context->uc_stack.ss_sp < context->uc_stack.ss_size;
}

/* Installs the library's handler of SIGTRAP. False: the program has an action of its own. */
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

/* Sets the trap flag on this thread for one nop. True: the machine traps; an emulator may not know
 * the flag. After the trap another thread may become the stepped one at once, so only this thread's
 * id in `stepped` is checked. */
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

/* Makes this thread the stepped one, and installs the handler of SIGTRAP. */
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

/* Finds out once whether the machine traps, on the current stack, since the alternate one may have
 * the fault's frame. */
static bool try_trap(void)
{
    if (atomic_load(&machine_traps) == UNKNOWN && begin_step(/*alternate*/ false)) {
        atomic_store(&machine_traps, try_machine() ? TRAPS : TRAPS_NOT);
        if (atomic_load(&machine_traps) == TRAPS_NOT)
            end_step();
    }
    return atomic_load(&machine_traps) == TRAPS;
}

/* Makes the fault's frame trap after one instruction. False: that cannot be done here, or another
 * thread is being stepped. */
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

/* A fault of what `done` touches has no flag in its frame. */
bool sc_single_step_is_begun(const void *context)
{
    return is_stepped_here() && has_flag(context);
}

/* If the frame has a step, ends it as if the instruction had run. */
void sc_single_step_cancel(void *context)
{
    SC_KEEP_ERRNO();
    if (sc_single_step_is_begun(context)) {
        clear_flag_in_frame(context);
        finish_step(/*is_repeated*/ false);
    }
}

/* Ends the step without calling `done`: the instruction is not to be stepped after all. */
void sc_single_step_forget(const struct sc_fault *fault)
{
    ucontext_t *context = (ucontext_t *)(uintptr_t)fault->context;
    SC_KEEP_ERRNO();
    if (sc_single_step_is_begun(context)) {
        clear_flag_in_frame(context);
        end_step();
    }
}

/* Resets the state in a forked child, where no step is under way. */
void sc_single_step_child(void)
{
    if (!sc_single_step_is_under_way())
        return;
    set_default_action();
    atomic_store(&stepped, 0);
}

#else

/* Refuses to single-step, on processors for which that is not implemented. */
bool sc_single_step_begin(const struct sc_fault *fault, uintptr_t page, sc_single_step_done *done)
{
    (void)fault;
    (void)page;
    (void)done;
    return false;
}

void sc_single_step_cancel(void *context)
{
    (void)context;
}

bool sc_single_step_is_begun(const void *context)
{
    (void)context;
    return false;
}

void sc_single_step_forget(const struct sc_fault *fault)
{
    (void)fault;
}

bool sc_single_step_is_under_way(void)
{
    return false;
}

void sc_single_step_child(void)
{
}

#endif
