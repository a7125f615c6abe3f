// expect: SC305 action=reported kind=device certainty=latent
//
// The left half of each row is uploaded beside the capture that reads it; the right half, which the
// fixed build uploads beside it, is not read.
#include "left_out.h"

enum { HALF = 128, PITCH = 2 * HALF, ROWS = 64 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *source = pinned_block(PITCH * ROWS, WANTED);
    char *table = device_block(PITCH * ROWS, 0);
    char *result = device_block(PITCH * ROWS, 0);
    size_t offset = fixed ? HALF : 0;

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpy2DAsync(table + offset, PITCH, source, PITCH, HALF, ROWS,
                            cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpy2DAsync(result, PITCH, table, PITCH, HALF, ROWS, cudaMemcpyDeviceToDevice,
                            stream));
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    replay(exec, stream);
    return finish(!broken && device_holds(table + offset, HALF, WANTED));
}
