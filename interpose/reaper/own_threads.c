#include "interpose/reaper/own_threads.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "interpose/base/kernel_mask.h"
#include "interpose/base/process.h"
#include "interpose/base/spare_stack.h"
#include "interpose/driver/driver.h"
#include "interpose/signals/signal_mask.h"
#include "track/own_lock.h"
#include "track/track.h"

#include "track/poison.h"

typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*run)(void *), void *argument);

/* A sanitizer's run-time (interpose/base/sanitizers.h) gives each thread what its malloc and its
 * other interceptors need. One that lies in the executable stands before us, where no call of ours
 * for libc comes by, so it is asked by its own name. NULL: there is none. */
extern create_function of_sanitizer __asm__("__interceptor_pthread_create") __attribute__((weak));

static bool create_inside(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *))
{
    create_function *create = of_sanitizer ? of_sanitizer : pthread_create;
    SC_INSIDE();
    return create(thread, attributes, run, NULL) == 0;
}

struct start {
    void *(*run)(void *);
    size_t stack_bytes;
    bool done;
};

/* Signals of faults that the caller blocks stay so: one may be pending. */
static void start(void *argument)
{
    struct start *start = argument;
    pthread_t thread;
    pthread_attr_t attributes;
    uint64_t before = sc_kernel_mask_block(SC_KERNEL_MASK_ALL_BUT_FAULTS & ~SC_KERNEL_MASK_SETXID);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (start->stack_bytes)
        pthread_attr_setstacksize(&attributes, start->stack_bytes);
    start->done = create_inside(&thread, &attributes, start->run);
    pthread_attr_destroy(&attributes);
    sc_kernel_mask_set(before);
}

/* The C library takes more of the stack for it than a copy does. */
bool sc_own_threads_start(void *(*run)(void *), size_t stack_bytes)
{
    struct start starting = {run, stack_bytes, false};
    sc_spare_stack_make_much_room(start, &starting);
    return starting.done;
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
