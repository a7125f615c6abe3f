// expect: none
//
// Constants are allocated while one stream captures, and set up while a second one of the thread's
// captures what uses them, as the body of a conditional node is captured.
#include "left_out.h"

int main(void)
{
    cudaStream_t outer = new_stream();
    cudaStream_t inner = new_stream();
    cudaStream_t uploads = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *from = device_block(SMALL, NEXT);
    void *seen = device_block(SMALL, 0);
    void *result = device_block(SMALL, 0);
    void *constants = NULL;

    CHECK(cudaStreamBeginCapture(outer, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMalloc(&constants, SMALL));
    CHECK(cudaStreamBeginCapture(inner, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMemcpyAsync(constants, source, SMALL, cudaMemcpyHostToDevice, uploads));
    capture_copy(result, constants, inner);
    cudaGraphExec_t exec = end_capture(inner, 1);
    capture_copy(seen, from, outer);
    cudaGraphExec_t other = end_capture(outer, 1);

    CHECK(cudaDeviceSynchronize());
    fill(source, SMALL, FOREIGN);
    replay(exec, inner);
    replay(exec, inner);
    replay(other, outer);
    return finish(!broken && device_holds(result, SMALL, WANTED) &&
                  device_holds(seen, SMALL, NEXT));
}
