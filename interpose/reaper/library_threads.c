#include "interpose/reaper/library_threads.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "common/kernel.h"
#include "common/library_lock.h"
#include "common/uncancelled.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/masked_threads.h"
#include "interpose/base/process.h"
#include "interpose/base/thread_stack.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/door.h"

#include "common/poison.h"

/* pthread_create of a sanitizer's run-time (interpose/base/sanitizers.h), which gives each thread
 * what its malloc and other interceptors need. A run-time in the executable comes before this
 * library, whose calls of libc do not pass it, so it is called by its own name. NULL: there is no
 * such run-time. */
extern sc_create_function sanitizers_create __asm__("__interceptor_pthread_create")
    __attribute__((weak));

/* The signal mask of the library's threads: signals for the process stay pending for the program's
 * threads. Signal 32 is blocked, by which a thread is recognised that runs no code of the program
 * (interpose/signals/blocked_threads.h). */
static const uint64_t mask_of_thread = ~SC_KERNEL_MASK_SETXID;

/* Starts a detached thread of the library, with signals blocked from its first instruction on. The
 * hooks let the C library's calls pass here (SC_INSIDE), as for calls of the library's own. A
 * sanitizer's pthread_create is used where there is one. False: no thread could be created. */
static bool start_thread(sc_run_function *run, void *argument, size_t stack_bytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack_bytes)
        pthread_attr_setstacksize(&attributes, stack_bytes);
    SC_INSIDE();
    int result = sc_masked_threads_create(sanitizers_create ? sanitizers_create : pthread_create,
                                          &thread, &attributes, mask_of_thread, run, argument);
    pthread_attr_destroy(&attributes);
    return result == 0;
}

bool sc_library_threads_start(sc_run_function *run, size_t stack_bytes)
{
    return start_thread(run, NULL, stack_bytes);
}

/* ---- which signals the library's threads take ---- */

/* Has the signal a handler of the program's? Asks Linux, since the program may have set it by a
 * system call that passes the library by. */
static bool has_handler(int number)
{
    struct {
        void (*handler)(int);
        unsigned long rest[8];
    } found = {0};
    sc_kernel_call(SYS_rt_sigaction, number, NULL, &found, sizeof(uint64_t));
    return found.handler != SIG_DFL && found.handler != SIG_IGN;
}

/* Is the signal pending? One that was sent to the process is for the program's threads. To unblock
 * it here would let this thread take it. */
static bool is_pending(int number)
{
    uint64_t pending = 0;
    sc_kernel_call(SYS_rt_sigpending, &pending, sizeof pending);
    return pending & SC_SIGNAL_BIT(number);
}

/* May code on this thread cause a fault that a handler has to see: the guard's, whose pages the
 * thread may touch, or the program's, whose allocator may rely on it? */
static bool may_have_fault(void)
{
    return sc_options.guard ? sc_guard_unblock_faults(/*is_own*/ true) : has_handler(SIGSEGV);
}

/* Has the thread a seccomp filter? The filter may answer this very question by SIGSYS, for the
 * program's handler. So SIGSYS is unblocked first, and stays so; the caller sets the mask anew. */
static bool unblock_and_ask_filter(void)
{
    sc_kernel_mask_unblock(SC_SIGNAL_BIT(SIGSYS));
    return sc_kernel_is_filtered();
}

void sc_library_threads_block_signals(void)
{
    sc_kernel_mask_set(mask_of_thread);
}

/* Called when a thread of the library goes to work: unblocks the signals that its own code may
 * cause, which are faults, and system calls that a sandbox filters. Blocked, such a signal would
 * end the process. One that is pending already was sent, and stays blocked. */
void sc_library_threads_unblock_signals(void)
{
    uint64_t open = 0;
    if (may_have_fault() && !is_pending(SIGSEGV))
        open |= SC_SIGNAL_BIT(SIGSEGV);
    if (has_handler(SIGSYS) && !is_pending(SIGSYS) && unblock_and_ask_filter())
        open |= SC_SIGNAL_BIT(SIGSYS);
    sc_kernel_mask_set(mask_of_thread & ~open);
}

/* The first call of a thread of the library: gives it a name, opens it for signals of its own
 * faults, and marks it as the library's, so that it waits for no lock of the library in a fault. */
void sc_library_threads_enter(const char *name)
{
    prctl(PR_SET_NAME, name);
    sc_library_threads_unblock_signals();
    sc_library_lock_mark_library_thread();
}

/* Does what sc_library_threads_enter does, for a thread that calls the driver. Its capture mode
 * becomes relaxed: by the default one its calls would invalidate captures of other threads. */
void sc_library_threads_enter_driver(const char *name)
{
    sc_library_threads_enter(name);
    if (sc_real.cuThreadExchangeStreamCaptureMode) {
        CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        sc_real.cuThreadExchangeStreamCaptureMode(&mode);
    }
}

/* ---- a call made on a thread of the library ---- */

/* A call that a thread of the library makes for another thread. */
struct errand {
    void (*function)(void *argument);
    void *argument;
    CUcontext context;
    _Atomic uint32_t is_done; /* 1: the call was made; a futex */
};

/* The thread of one errand: makes the call for the thread that waits, in that one's context, and
 * wakes it. Any signal that the call may cause is unblocked as on the library's other threads. */
static void *run_errand(void *argument)
{
    struct errand *errand = argument;
    SC_CARRY(); /* its driver calls are no missed calls of the program */
    sc_library_threads_enter_driver("safecopy-call");
    if (errand->context)
        sc_real.cuCtxPushCurrent_v2(errand->context);
    errand->function(errand->argument);
    atomic_store(&errand->is_done, 1);
    sc_kernel_call(SYS_futex, &errand->is_done, FUTEX_WAKE_PRIVATE, 1);
    return NULL;
}

static void await_errand(struct errand *errand)
{
    while (atomic_load(&errand->is_done) == 0)
        sc_kernel_call(SYS_futex, &errand->is_done, FUTEX_WAIT_PRIVATE, 0);
}

/* Makes the call on a new thread with room on its stack, and waits for it. False: there was no
 * thread, and the call was not made. */
static bool call_on_thread(void (*function)(void *argument), void *argument)
{
    struct errand errand = {.function = function, .argument = argument};
    SC_KEEP_ERRNO();
    sc_real.cuCtxGetCurrent(&errand.context);
    bool is_started = start_thread(run_errand, &errand, SC_LIBRARY_THREADS_SMALL);
    if (is_started)
        await_errand(&errand);
    return is_started;
}

/* How much stack must be left. The driver uses 14 KB to make streams or to pin memory (driver 580;
 * 6 KB for a copy). */
enum { ROOM_BYTES = 24 << 10 };

/* Makes a call of the driver for which the calling thread's stack may be too small (threads and
 * fibers of programs have small ones). If little is left, another thread makes it. False: it was
 * not made. */
bool sc_library_threads_call(void (*function)(void *argument), void *argument)
{
    SC_NO_CANCELLATION_POINT();
    sc_thread_stack_learn();
    if (sc_unlikely(!sc_thread_stack_has_room(ROOM_BYTES)))
        return call_on_thread(function, argument);
    function(argument);
    return true;
}
