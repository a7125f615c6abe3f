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

enum { TRAP_FLAG = 0x100, TRAPPED = 2 /* TRAP_TRACE */, LOOK_NS = 100 * 1000 * 1000 };

typedef int sigaction_function(int number, const struct sigaction *action, struct sigaction *old);

static _Atomic int32_t stepped; /* the thread; 0: none */
static struct {
    uintptr_t page, pc;
    uint64_t mask; /* of the thread, but for the step */
    sc_single_step_done *done;
    bool is_repeated;
} step; /* the stepped thread's */

enum { UNKNOWN, TRAPS, TRAPS_NOT };
static _Atomic int machine;

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

/* No handler comes between the fault and the trap that would find the flag in its frame, or take
 * the frame elsewhere. The signals of faults are the instruction's own. */
static void set_in_frame(ucontext_t *context)
{
    uint64_t mask = SC_KERNEL_MASK_ALL_BUT_FAULTS | step.mask;
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
}

/* The way back from the fault has noted the mask of the step (sigreturn.c). */
static void clear_in_frame(ucontext_t *context)
{
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    memcpy(&context->uc_sigmask, &step.mask, sizeof step.mask);
    sc_signal_mask_note_kernels(step.mask);
}

static bool has_flag(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG;
}

/* ---- behind the instruction ---- */

static void call_done(void *unused)
{
    (void)unused;
    step.done(step.page, step.is_repeated);
}

static void set_default(void)
{
    struct sigaction by_default;
    memset(&by_default, 0, sizeof by_default);
    real_sigaction(SIGTRAP, &by_default, NULL);
}

static void end(void)
{
    set_default();
    atomic_store(&stepped, 0);
}

static void finish(bool is_repeated)
{
    step.is_repeated = is_repeated;
    if (step.done)
        sc_spare_stack_try(call_done, NULL, &step.mask);
    end();
}

/* The default action is for it. It is blocked until the handler returns. */
static void die(int number)
{
    set_default();
    sc_kernel_call(SYS_tgkill, getpid(), sc_kernel_call(SYS_gettid), number);
}

static void on_trap(int number, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    SC_KEEP_ERRNO();
    if (info->si_code == TRAPPED && is_stepped_here()) {
        clear_in_frame(context);
        finish((uintptr_t)context->uc_mcontext.gregs[REG_RIP] == step.pc);
        sc_main_thread_let_go();
    } else {
        die(number);
    }
}

/* ---- before it ---- */

/* Whose signal it is when a debugger is there. */
static bool is_traced(void)
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
    bool is = !tracer || tracer[sizeof name - 1] != '0';
    atomic_store_explicit(&traced, is, memory_order_relaxed);
    atomic_store_explicit(&good_until_ns, now_ns + LOOK_NS, memory_order_relaxed);
    return is;
}

/* The handler's frame lies where that of the fault lies: the thread's own stack may be used up. */
static bool is_on_alternate_stack(const ucontext_t *context)
{
    return (uintptr_t)context - (uintptr_t)context->uc_stack.ss_sp < context->uc_stack.ss_size;
}

static bool take_signal(bool alternate)
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

/* A step over nothing, on this very thread. What emulates a processor may know no trap flag. Behind
 * the trap another thread may be the stepped one at once. */
static bool try_machine(void)
{
    step.done = NULL;
    step.mask = sc_kernel_mask_block(0);
    __asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq\n\tnop"
                     :
                     : "i"(TRAP_FLAG)
                     : "cc", "memory");
    return !is_stepped_here();
}

/* The thread becomes the stepped one, with the signal. */
static bool begin(bool alternate)
{
    int32_t none = 0;
    if (!atomic_compare_exchange_strong(&stepped, &none, sc_thread_id()))
        return false;
    if (take_signal(alternate))
        return true;
    atomic_store(&stepped, 0);
    return false;
}

/* On the current stack: the alternate one may have the frame of the fault. */
static bool does_trap(void)
{
    if (atomic_load(&machine) == UNKNOWN && begin(false)) {
        atomic_store(&machine, try_machine() ? TRAPS : TRAPS_NOT);
        if (atomic_load(&machine) == TRAPS_NOT)
            end();
    }
    return atomic_load(&machine) == TRAPS;
}

bool sc_single_step_begin(const struct sc_fault *fault, uintptr_t page, sc_single_step_done *done)
{
    ucontext_t *context = (ucontext_t *)(uintptr_t)fault->context;
    SC_KEEP_ERRNO();
    bool begun = !(fault->mask & SC_SIGNAL_BIT(SIGTRAP)) && !has_flag(context) && !is_traced() &&
                 does_trap() && begin(is_on_alternate_stack(context));
    if (begun) {
        step.page = page;
        step.pc = fault->pc;
        step.mask = fault->mask;
        step.done = done;
        set_in_frame(context);
    }
    return begun;
}

/* What `done` touches may fault as well, without the flag. */
bool sc_single_step_is_begun(const void *context)
{
    return is_stepped_here() && has_flag(context);
}

void sc_single_step_cancel(void *context)
{
    SC_KEEP_ERRNO();
    if (sc_single_step_is_begun(context)) {
        clear_in_frame(context);
        finish(false);
    }
}

void sc_single_step_forget(const struct sc_fault *fault)
{
    ucontext_t *context = (ucontext_t *)(uintptr_t)fault->context;
    SC_KEEP_ERRNO();
    if (sc_single_step_is_begun(context)) {
        clear_in_frame(context);
        end();
    }
}

void sc_single_step_child(void)
{
    if (!sc_single_step_is_under_way())
        return;
    set_default();
    atomic_store(&stepped, 0);
}

#else

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
