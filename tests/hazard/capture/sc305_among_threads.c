// expect: SC305 action=reported kind=device certainty=latent event=cuMemsetD8Async
//
// A buffer is cleared beside the capture of the graph that reads it. Meanwhile other threads
// capture graphs of their own, with other memory, and launch them.
#include "left_out.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3 };

static atomic_bool over;
static CUfunction kernel;
static void *own[THREADS][2];
static atomic_uint launched[THREADS];

/* With a copy and a kernel, or with a copy and a memset. */
static void *go_on(void *number)
{
    unsigned n = (unsigned)(uintptr_t)number;
    cudaStream_t stream = new_stream();
    while (!atomic_load(&over)) {
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        CHECK(cudaMemcpyAsync(own[n][0], own[n][1], SMALL, cudaMemcpyDeviceToDevice, stream));
        if (n % 2)
            launch_copy(kernel, (CUdeviceptr)own[n][1], (CUdeviceptr)own[n][0], stream);
        else
            CHECK(cudaMemsetAsync(own[n][1], 0, SMALL, stream));
        cudaGraph_t graph = NULL;
        cudaGraphExec_t exec = NULL;
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
        CHECK(cudaGraphDestroy(graph));
        for (unsigned i = 0; i < 3; i++)
            CHECK(cudaGraphLaunch(exec, stream));
        atomic_fetch_add(&launched[n], 1);
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaGraphExecDestroy(exec));
    }
    return NULL;
}

/* Each of them has launched since. */
static void let_others_launch(void)
{
    for (unsigned n = 0; n < THREADS; n++) {
        unsigned before = atomic_load(&launched[n]);
        while (atomic_load(&launched[n]) - before < 2)
            usleep(100);
    }
}

int main(void)
{
    pthread_t threads[THREADS];
    cudaStream_t stream = new_stream();
    cudaStream_t beside = new_stream();
    void *counts = device_block(SMALL, FOREIGN);
    void *result = device_block(SMALL, WANTED);
    kernel = copying_kernel();
    for (unsigned n = 0; n < 2 * THREADS; n++)
        own[n / 2][n % 2] = device_block(SMALL, 0);
    for (uintptr_t n = 0; n < THREADS; n++)
        pthread_create(&threads[n], NULL, go_on, (void *)n);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemsetAsync(counts, 0, SMALL, fixed ? stream : beside));
    CHECK(cudaMemcpyAsync(result, counts, SMALL, cudaMemcpyDeviceToDevice, stream));
    cudaGraphExec_t exec = end_capture(stream, fixed ? 2 : 1);
    CHECK(cudaStreamSynchronize(beside));
    for (unsigned i = 0; i < 3; i++) {
        replay(exec, stream);
        let_others_launch();
    }

    atomic_store(&over, true);
    for (unsigned n = 0; n < THREADS; n++)
        pthread_join(threads[n], NULL);
    CHECK(cudaDeviceSynchronize());
    return finish(!broken && device_is(result, SMALL, 0));
}
