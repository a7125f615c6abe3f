// run: strict=1 -> coverage.missed=0 hazards=0
// run: mode=report -> coverage.missed=0 hazards=0
/* Eight threads copy through the wrappers and wait around them, on streams that are made and
 * destroyed around them, so that handles go from one thread to the next. */
#include <pthread.h>

#include "around.h"

enum { THREADS = 8, ROUNDS = 50 };

static CUresult (*create)(CUstream *, unsigned);
static CUresult (*destroy)(CUstream);

static void *run(void *kind)
{
    CUstream own;
    void *host, *memory;
    CUDA(cudaMalloc(&memory, BYTES));
    for (int i = 0; i < ROUNDS; i++) {
        CUDA(create(&own, *(unsigned *)kind));
        CUDA(cudaMallocHost(&host, BYTES));
        CUDA(cudaMemcpyAsync(memory, host, BYTES, cudaMemcpyHostToDevice, own));
        CUDA(cudaMemcpyAsync(host, memory, BYTES, cudaMemcpyDeviceToHost, own));
        CUDA(direct.synchronize(own));
        CUDA(cudaFreeHost(host));
        CUDA(destroy(own));
    }
    return NULL;
}

int main(void)
{
    static unsigned kinds[2] = {CU_STREAM_DEFAULT, CU_STREAM_NON_BLOCKING};
    pthread_t threads[THREADS];
    set_up();
    go_around();
    *(void **)&create = around("cuStreamCreate");
    *(void **)&destroy = around("cuStreamDestroy_v2");
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, &kinds[i % 2]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
