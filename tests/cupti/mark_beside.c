// run: cupti=off:stall_limit=60s -> by_code.SC103=1
// timeout: 20
/* A copy that is issued while the library's own thread records an event behind the copies before
 * it: that event is behind none of this one, which needs another. The program keeps the thread
 * inside of the driver until it is about to issue. */
#include "profiler.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

enum { WINDOW_US = 20 * 1000 };

static char registered[BYTES];
static pthread_t program;
static _Atomic bool recording, issuing;

static void CUPTIAPI keep(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void *about)
{
    const CUpti_CallbackData *call = about;
    (void)user, (void)domain, (void)id;
    if (call->callbackSite != CUPTI_API_ENTER || pthread_equal(pthread_self(), program))
        return;
    atomic_store(&recording, true);
    while (!atomic_load(&issuing))
        usleep(100);
    usleep(WINDOW_US);
}

static void copy_back(void *target)
{
    CUDA(cudaMemcpyAsync(target, device, BYTES, cudaMemcpyDeviceToHost, stream));
}

/* The second copy has no event behind it yet if it comes soon enough after the first. */
static bool has_event_recorded(void)
{
    void *freed;
    CUDA(cudaMallocHost(&freed, BYTES));
    copy_back(pinned);
    copy_back(freed);
    CUDA(cudaFreeHost(freed));
    for (int i = 0; i < 100 && !atomic_load(&recording); i++)
        usleep(1000);
    return atomic_load(&recording);
}

int main(void)
{
    program = pthread_self();
    set_up();
    profiler_load();
    CHECK(profiler.subscribe(&profiler.handle, keep, NULL) == CUPTI_SUCCESS);
    CHECK(profiler.enable(1, profiler.handle, CUPTI_CB_DOMAIN_DRIVER_API,
                          CUPTI_DRIVER_TRACE_CBID_cuEventRecord) == CUPTI_SUCCESS);
    CUDA(cudaHostRegister(registered, BYTES, cudaHostRegisterDefault));
    while (!has_event_recorded())
        continue;
    atomic_store(&issuing, true);
    copy_back(registered);
    CUDA(cudaHostUnregister(registered));
    profiler_end();
    return 0;
}
