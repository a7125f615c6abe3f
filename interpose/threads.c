#include "interpose/threads.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include "interpose/driver.h"
#include "interpose/process.h"
#include "track/track.h"

#include "track/poison.h"

enum { STACK_BYTES = 256 * 1024 };

typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*run)(void *), void *argument);

/* A sanitizer's run-time (interpose/sanitizers.h) gives each thread what its malloc and its other
 * interceptors need. One that lies in the executable stands before us, where no call of ours for
 * libc comes by, so it is asked by its own name. NULL: there is none. */
extern create_function of_sanitizer __asm__("__interceptor_pthread_create") __attribute__((weak));

static bool start(const pthread_attr_t *attributes, void *(*run)(void *))
{
    pthread_t thread;
    create_function *create = of_sanitizer ? of_sanitizer : pthread_create;
    SC_INSIDE();
    return create(&thread, attributes, run, NULL) == 0;
}

bool sc_thread_start(void *(*run)(void *))
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    bool started = start(&attributes, run);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void sc_thread_enter(const char *name)
{
    prctl(PR_SET_NAME, name);
    sc_track_inside++; /* it gives memory back, and cannot wait for itself */
    if (sc_real.cuThreadExchangeStreamCaptureMode) {
        CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        sc_real.cuThreadExchangeStreamCaptureMode(&mode);
    }
}
