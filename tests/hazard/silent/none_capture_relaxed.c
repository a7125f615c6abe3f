// expect: none
//
// A Relaxed capture permits what another would not: the thread that captures allocates, registers,
// frees, queries and waits for another stream.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t downloads = new_stream();
    cudaEvent_t down = new_event();
    void *from = device_block(SMALL, WANTED);
    void *spare = device_block(SMALL, 0);
    void *spare_pinned = pinned_block(SMALL, 0);
    void *between = NULL;
    void *target = NULL;

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMalloc(&between, SMALL));
    CHECK(cudaMallocHost(&target, SMALL));
    void *block = registered_block(SMALL, 0);
    capture_copy(between, from, stream);
    CHECK(cudaMemcpyAsync(block, from, SMALL, cudaMemcpyDeviceToHost, downloads));
    CHECK(cudaEventRecord(down, downloads));
    CHECK(cudaEventSynchronize(down));
    CHECK(cudaEventQuery(down));
    CHECK(cudaStreamSynchronize(downloads));
    bool right = holds(block, SMALL, WANTED);
    CHECK(cudaHostUnregister(block));
    CHECK(cudaFree(spare));
    CHECK(cudaFreeHost(spare_pinned));
    CHECK(cudaMemcpyAsync(target, between, SMALL, cudaMemcpyDeviceToHost, stream));

    replay(end_capture(stream, 2), stream);
    return finish(!broken && right && holds(target, SMALL, WANTED));
}
