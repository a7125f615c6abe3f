// expect: none
//
// A buffer is cleared beside the capture of the graph that reads it. Before each launch a graph of
// another thread fills it: by a copy, or by a kernel that has an address further down in the
// allocation.
#include "left_out.h"

#include <pthread.h>

static CUfunction kernel;
static unsigned char *input;
static void *source;
static cudaGraphExec_t fills[2];
static cudaStream_t filling;

static void *capture_fills(void *unused)
{
    filling = new_stream();
    for (unsigned i = 0; i < 2; i++) {
        CHECK(cudaStreamBeginCapture(filling, cudaStreamCaptureModeThreadLocal));
        if (i == 0)
            CHECK(cudaMemcpyAsync(input + SMALL, source, SMALL, cudaMemcpyDeviceToDevice, filling));
        else
            launch_copy(kernel, (CUdeviceptr)input, (CUdeviceptr)source, filling);
        fills[i] = end_capture(filling, 1);
    }
    return unused;
}

static void *launch_fill(void *exec)
{
    replay((cudaGraphExec_t)exec, filling);
    return NULL;
}

static void on_a_thread(void *function(void *), void *argument)
{
    pthread_t thread;
    pthread_create(&thread, NULL, function, argument);
    pthread_join(thread, NULL);
}

int main(void)
{
    const size_t half = SMALL / 2;
    bool right = true;
    cudaStream_t stream = new_stream();
    void *result = device_block(SMALL, 0);
    input = (unsigned char *)device_block(2 * SMALL, FOREIGN);
    source = device_block(SMALL, 0);
    kernel = copying_kernel();
    CHECK(cudaMemset(source, WANTED, SMALL));
    CHECK(cudaDeviceSynchronize());
    on_a_thread(capture_fills, NULL);

    for (unsigned i = 0; i < 2; i++) {
        unsigned char *read = input + (i == 0 ? SMALL : half);
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        CHECK(cudaMemset(read, 0, half));
        CHECK(cudaMemcpyAsync(result, read, half, cudaMemcpyDeviceToDevice, stream));
        cudaGraphExec_t exec = end_capture(stream, 1);
        CHECK(cudaDeviceSynchronize()); /* or the clearing races the filling */
        for (unsigned step = 0; step < 4; step++) {
            on_a_thread(launch_fill, fills[i]);
            replay(exec, stream);
        }
        right = device_is(result, half, WANTED) && right;
        CHECK(cudaGraphExecDestroy(exec));
        CHECK(cudaMemset(result, 0, half));
        CHECK(cudaDeviceSynchronize());
    }

    return finish(!broken && right);
}
