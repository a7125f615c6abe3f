// run: strict=1 -> hazards=0 coverage.missed=0
// run: mode=report -> hazards=0
// run: cupti=require MIXED=1 -> hazards=0
/* Threads make contexts at once, and end them around the wrappers, all or each second one: a handle
 * names another context before we have buried the former. */
#include <pthread.h>
#include <time.h>

#include "around.h"

enum { THREADS = 6, ROUNDS = 60, SECONDS = 5 }; /* a real context takes 0.2 s */

static CUresult (*end)(CUcontext);
static time_t deadline;

static void end_context(CUcontext context, int round)
{
    CUDA(getenv("MIXED") && round % 2 ? cuCtxDestroy(context) : end(context));
}

static void use_context(int round)
{
    CUcontext context;
    CUstream in_context;
    CUdeviceptr memory;
    void *source, *target = aligned_alloc(BYTES, BYTES);
    CUDA(cuCtxCreate(&context, NULL, 0, 0));
    CUDA(cuMemAlloc(&memory, BYTES));
    CUDA(cuStreamCreate(&in_context, round % 2));
    CUDA(cuMemAllocHost(&source, BYTES));
    CUDA(cuMemHostRegister(target, BYTES, 0));
    memset(source, round, BYTES);
    for (int i = 0; i < 3; i++) {
        CUDA(cuMemcpyHtoDAsync(memory, source, BYTES, in_context));
        CUDA(cuMemcpyDtoHAsync(target, memory, BYTES, in_context));
    }
    end_context(context, round);
    CHECK(memcmp(target, &(char){(char)round}, 1) == 0);
    free(target);
}

static void *work(void *unused)
{
    for (int round = 0; round < ROUNDS && time(NULL) < deadline; round++)
        use_context(round);
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    CUDA(cuInit(0));
    deadline = time(NULL) + SECONDS;
    *(void **)&end = around("cuCtxDestroy_v2");
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
