#include "interpose/reaper/own_threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

#include "cupti_hooks/ear.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/driver.h"
#include "interpose/signals/signal_mask.h"
#include "track/kernel.h"
#include "track/own_lock.h"
#include "track/track.h"

#include "track/poison.h"

typedef void *run_function(void *argument);
typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes, run_function *run,
                            void *argument);
typedef int mask_function(pthread_attr_t *attributes, const sigset_t *mask);

/* A sanitizer's run-time (interpose/base/sanitizers.h) gives each thread what its malloc and its
 * other interceptors need. One that lies in the executable stands before us, where no call of ours
 * for libc comes by, so it is asked by its own name. NULL: there is none. */
extern create_function of_sanitizer __asm__("__interceptor_pthread_create") __attribute__((weak));

/* Signals of faults that the caller blocks stay so: one may be pending. */
static uint64_t mask_of_thread(void)
{
    return sc_kernel_mask_block(0) | (SC_KERNEL_MASK_ALL_BUT_FAULTS & ~SC_KERNEL_MASK_SETXID);
}

/* The C library may wait in there for a thread of the program's, so the caller's signals are not
 * blocked, but by a C library before 2.32, which gives a thread its creator's mask only. */
static bool create(const pthread_attr_t *attributes, bool has_mask, run_function *run,
                   void *argument)
{
    create_function *real = of_sanitizer ? of_sanitizer : pthread_create;
    pthread_t thread;
    SC_INSIDE();
    uint64_t before = has_mask ? 0 : sc_kernel_mask_set(mask_of_thread());
    bool is_created = real(&thread, attributes, run, argument) == 0;
    if (!has_mask)
        sc_kernel_mask_set(before);
    return is_created;
}

static bool start(run_function *run, void *argument, size_t stack_bytes)
{
    mask_function *set_mask = SC_NEXT(mask_function *, "pthread_attr_setsigmask_np");
    pthread_attr_t attributes;
    sigset_t mask;
    uint64_t bits = mask_of_thread();
    sigemptyset(&mask);
    memcpy(&mask, &bits, sizeof bits);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack_bytes)
        pthread_attr_setstacksize(&attributes, stack_bytes);
    bool has_mask = set_mask && set_mask(&attributes, &mask) == 0;
    bool is_started = create(&attributes, has_mask, run, argument);
    pthread_attr_destroy(&attributes);
    return is_started;
}

bool sc_own_threads_start(run_function *run, size_t stack_bytes)
{
    return start(run, NULL, stack_bytes);
}

void sc_own_threads_enter(const char *name)
{
    prctl(PR_SET_NAME, name);
    sc_kernel_mask_set(SC_KERNEL_MASK_ALL_BUT_FAULTS & ~SC_KERNEL_MASK_LIBRARYS);
    sc_signal_mask_believe_unblocked();
    sc_own_lock_enter(); /* for good */
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
    sc_own_threads_enter("safecopy-call");
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

bool sc_own_threads_call(void (*function)(void *argument), void *argument)
{
    struct errand errand = {.function = function, .argument = argument};
    int saved = errno;
    sc_real.cuCtxGetCurrent(&errand.context);
    bool is_started = start(run_errand, &errand, SC_OWN_THREADS_SMALL);
    if (is_started)
        await(&errand);
    errno = saved;
    return is_started;
}
