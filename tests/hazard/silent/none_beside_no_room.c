// expect: none
// summary: beside_unjudged>0
//
// More memory is allocated within a capture than is kept of it: an upload that comes then is not
// judged, and the summary says so.
#include "left_out.h"

enum { ALLOCATIONS = 1100, BYTES = 256 };

int main(void)
{
    static void *constants[ALLOCATIONS];
    cudaStream_t stream = new_stream();
    void *source = pinned_block(BYTES, WANTED);
    void *input = device_block(BYTES, 0);
    void *result = device_block(BYTES, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < ALLOCATIONS; i++) {
        CHECK(cudaMalloc(&constants[i], BYTES));
        CHECK(cudaMemcpyAsync(constants[i], source, BYTES, cudaMemcpyHostToDevice, 0));
    }
    CHECK(cudaMemcpyAsync(input, source, BYTES, cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpyAsync(result, input, BYTES, cudaMemcpyDeviceToDevice, stream));
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    replay(exec, stream);
    return finish(!broken && device_holds(result, BYTES, WANTED));
}
