// expect: none
// summary: suppressed=1
//
// Constants are uploaded within the capture, and the program says so. The verdict comes with a
// later launch, where nothing is ignored any more.
#include "left_out.h"

#include "include/safecopy.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *constants = device_block(SMALL, 0);
    void *result = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    safecopy_ignore_begin("constants");
    CHECK(cudaMemcpyAsync(constants, source, SMALL, cudaMemcpyHostToDevice, 0));
    safecopy_ignore_end();
    capture_copy(result, constants, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++)
        replay(exec, stream);
    return finish(!broken && device_holds(result, SMALL, WANTED));
}
