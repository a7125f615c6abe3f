// expect-exit: 0
// link: cuda
//
// Threads make contexts and destroy them while another one asks who holds the memory: no context
// that is gone is made current for that, and none stays so.
#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>

#include "../../include/safecopy.h"
#include "survival.h"

enum { ASKED = 1500, KB = 1 << 10, MB = 1 << 20, THREADS = 3 };

static atomic_bool stops;

static void *churn_contexts(void *unused)
{
    while (!atomic_load(&stops)) {
        CUcontext context = NULL;
        CUstream stream = NULL;
        CUdeviceptr block = 0;
        CHECK(cuCtxCreate(&context, NULL, 0, 0));
        CHECK(cuMemAlloc(&block, 1 * MB));
        CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        CHECK(cuMemsetD8Async(block, 1, 1 * MB, stream));
        CHECK(cuCtxDestroy(context));
    }
    return unused;
}

int main(void)
{
    static char json[256 * KB];
    CUcontext current = NULL;
    pthread_t churning[THREADS];
    CHECK(cuInit(0));
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&churning[i], NULL, churn_contexts, NULL));
    for (unsigned i = 0; i < ASKED; i++)
        (void)safecopy_get_memory(json, sizeof json);
    CHECK(cuCtxGetCurrent(&current));
    SHOW(current != NULL);
    atomic_store(&stops, true);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(churning[i], NULL));
    return 0;
}
