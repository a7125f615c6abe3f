#include "interpose/reaper/own_threads.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "common/kernel.h"
#include "common/own_lock.h"
#include "common/uncancelled.h"
#include "cupti_hooks/ear.h"
#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/masked_threads.h"
#include "interpose/base/own_stack.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/door.h"

#include "common/poison.h"

/* A sanitizer's run-time (interpose/base/sanitizers.h) gives each thread what its malloc and its
 * other interceptors need. One that lies in the executable stands before us, where no call of ours
 * for libc comes by, so it is asked by its own name. NULL: there is none. */
extern sc_create_function of_sanitizer __asm__("__interceptor_pthread_create")
    __attribute__((weak));

/* Whatever is pending for the process stays so. Signal 32 is in it, by which a thread is known that
 * runs no code of the program's (interpose/signals/blocked_threads.h). */
static const uint64_t mask_of_thread = ~SC_KERNEL_MASK_SETXID;

static bool start(sc_run_function *run, void *argument, size_t stack_bytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack_bytes)
        pthread_attr_setstacksize(&attributes, stack_bytes);
    SC_INSIDE();
    int result = sc_masked_threads_create(of_sanitizer ? of_sanitizer : pthread_create, &thread,
                                          &attributes, mask_of_thread, run, argument);
    pthread_attr_destroy(&attributes);
    return result == 0;
}

bool sc_own_threads_start(sc_run_function *run, size_t stack_bytes)
{
    return start(run, NULL, stack_bytes);
}

/* ---- which signals come here ---- */

/* As the kernel has it: the program may have set it by a system call of its own. */
static bool has_handler(int number)
{
    struct {
        void (*handler)(int);
        unsigned long rest[8];
    } found = {0};
    sc_kernel_call(SYS_rt_sigaction, number, NULL, &found, sizeof(uint64_t));
    return found.handler != SIG_DFL && found.handler != SIG_IGN;
}

/* One that was sent, and passed on to the program, may still be pending. */
static bool is_pending(int number)
{
    uint64_t pending = 0;
    sc_kernel_call(SYS_rt_sigpending, &pending, sizeof pending);
    return pending & SC_SIGNAL_BIT(number);
}

static bool may_have_fault(void)
{
    return sc_options.guard ? sc_guard_lets_faults_in(true) : has_handler(SIGSEGV);
}

/* The filter may ask for the handler here as well, so the handler can come meanwhile. */
static bool is_filtered(void)
{
    sc_kernel_mask_unblock(SC_SIGNAL_BIT(SIGSYS));
    return sc_kernel_is_filtered();
}

void sc_own_threads_close(void)
{
    sc_kernel_mask_set(mask_of_thread);
}

void sc_own_threads_open(void)
{
    uint64_t open = 0;
    if (may_have_fault() && !is_pending(SIGSEGV))
        open |= SC_SIGNAL_BIT(SIGSEGV);
    if (has_handler(SIGSYS) && !is_pending(SIGSYS) && is_filtered())
        open |= SC_SIGNAL_BIT(SIGSYS);
    sc_kernel_mask_set(mask_of_thread & ~open);
}

void sc_own_threads_enter(const char *name)
{
    prctl(PR_SET_NAME, name);
    sc_own_threads_open();
    sc_own_lock_be_own_thread();
}

void sc_own_threads_enter_driver(const char *name)
{
    sc_own_threads_enter(name);
    if (sc_real.cuThreadExchangeStreamCaptureMode) {
        CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        sc_real.cuThreadExchangeStreamCaptureMode(&mode);
    }
}

/* ---- a call made on a thread of ours ---- */

struct errand {
    void (*function)(void *argument);
    void *argument;
    CUcontext context;
    _Atomic uint32_t is_done; /* a futex */
};

static void *run_errand(void *argument)
{
    struct errand *errand = argument;
    SC_CARRY();
    sc_own_threads_enter_driver("safecopy-call");
    if (errand->context)
        sc_real.cuCtxPushCurrent_v2(errand->context);
    errand->function(errand->argument);
    atomic_store(&errand->is_done, 1);
    sc_kernel_call(SYS_futex, &errand->is_done, FUTEX_WAKE_PRIVATE, 1);
    return NULL;
}

static void await(struct errand *errand)
{
    while (atomic_load(&errand->is_done) == 0)
        sc_kernel_call(SYS_futex, &errand->is_done, FUTEX_WAIT_PRIVATE, 0);
}

static bool call_on_thread(void (*function)(void *argument), void *argument)
{
    struct errand errand = {.function = function, .argument = argument};
    SC_KEEP_ERRNO();
    sc_real.cuCtxGetCurrent(&errand.context);
    bool is_started = start(run_errand, &errand, SC_OWN_THREADS_SMALL);
    if (is_started)
        await(&errand);
    return is_started;
}

/* What the driver takes of the stack where it makes streams, or pins memory: 14 KB (driver 580; a
 * copy takes 6). */
enum { ROOM_BYTES = 24 << 10 };

bool sc_own_threads_make_room(void (*function)(void *argument), void *argument)
{
    SC_NO_CANCELLATION_POINT();
    sc_own_stack_learn();
    if (sc_unlikely(!sc_own_stack_has(ROOM_BYTES)))
        return call_on_thread(function, argument);
    function(argument);
    return true;
}
