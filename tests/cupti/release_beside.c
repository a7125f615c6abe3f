// run: cupti=off ->
// run: ->
// timeout: 20
/* A release of the primary context that is not the last one waits for nothing. The program makes
 * one while another thread is kept inside of the driver, in a call that goes on only behind it:
 * here by a tool, elsewhere by a stream that has no room for more. */
#include "profiler.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static _Atomic bool inside, released;

static void CUPTIAPI keep(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void *about)
{
    (void)user, (void)domain, (void)id, (void)about;
    atomic_store(&inside, true);
    while (!atomic_load(&released))
        usleep(1000);
}

static void *capture(void *context)
{
    CUgraph graph;
    CUDA(cuCtxSetCurrent(context));
    CUDA(cuStreamBeginCapture((CUstream)stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUDA(cuStreamEndCapture((CUstream)stream, &graph));
    return NULL;
}

int main(void)
{
    CUcontext context;
    pthread_t thread;
    CUDA(cuInit(0));
    CUDA(cuDevicePrimaryCtxRetain(&context, 0));
    CUDA(cuDevicePrimaryCtxRetain(&context, 0));
    CUDA(cuCtxSetCurrent(context));
    set_up();
    copy();
    profiler_load();
    CHECK(profiler.subscribe(&profiler.handle, keep, NULL) == CUPTI_SUCCESS);
    CHECK(profiler.enable(1, profiler.handle, CUPTI_CB_DOMAIN_DRIVER_API,
                          CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2) == CUPTI_SUCCESS);
    pthread_create(&thread, NULL, capture, context);
    while (!atomic_load(&inside))
        usleep(1000);
    CUDA(cuDevicePrimaryCtxRelease(0));
    atomic_store(&released, true);
    pthread_join(thread, NULL);
    profiler_end();
    return 0;
}
