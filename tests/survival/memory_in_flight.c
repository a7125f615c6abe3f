// expect-exit: 0
// link: cuda
//
// Threads allocate page-locked memory, copy into it and free it. With an argument they free it
// under the copy, a mistake, so that what one thread has freed goes back in another one's wait, and
// is a third one's by then. tests/unit/test_memory.py looks at what the ledger says in the end.
#include <cuda.h>
#include <pthread.h>

#include "survival.h"

enum { THREADS = 6, ROUNDS = 400, BYTES = 64 << 10 };

static CUcontext context;
static bool is_wrong;

static void *copy_often(void *unused)
{
    CUstream stream = NULL;
    CUdeviceptr block = 0;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&block, BYTES));
    for (unsigned i = 0; i < ROUNDS; i++) {
        void *target = NULL;
        CHECK(cuMemHostAlloc(&target, BYTES, 0));
        CHECK(cuMemcpyDtoHAsync(target, block, BYTES, stream));
        if (!is_wrong || i % 3 == 0)
            CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemFreeHost(target));
    }
    CHECK(cuMemFree(block));
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    is_wrong = argc > 1 && argv[1];
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, copy_often, NULL));
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL));
    CHECK(cuCtxSynchronize());
    return 0;
}
