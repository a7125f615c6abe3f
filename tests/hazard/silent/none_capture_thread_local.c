// expect: none
//
// A ThreadLocal capture is no business of other threads: one of them allocates, registers, frees,
// queries and synchronises meanwhile, all on streams of its own.
#include "capture.h"

static void *work(void *from)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t event = new_event();
    void *device = NULL;
    void *pinned = NULL;
    void *block = registered_block(SMALL, 0);
    CHECK(cudaMalloc(&device, SMALL));
    CHECK(cudaMallocHost(&pinned, SMALL));
    CHECK(cudaMemcpyAsync(device, from, SMALL, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaMemcpyAsync(pinned, device, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaEventSynchronize(event));
    CHECK(cudaEventQuery(event));
    CHECK(cudaStreamSynchronize(stream));
    bool right = holds(pinned, SMALL, WANTED);
    CHECK(cudaHostUnregister(block));
    free(block);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    return right ? from : NULL;
}

int main(void)
{
    pthread_t thread;
    void *answer = NULL;
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    capture_copy(to, from, stream);
    if (pthread_create(&thread, NULL, work, from) != 0 || pthread_join(thread, &answer) != 0)
        return 3;
    replay(end_capture(stream, 1), stream);
    return finish(!broken && answer == from && device_holds(to, SMALL, WANTED));
}
