// expect: SC305 action=reported kind=device certainty=latent event=cuMemcpy3DAsync_v2
//
// A box is uploaded beside the capture that downloads it. The graph also uploads a box of the same
// extent from its first byte to its last one, with other rows, which is no stand-in.
#include "left_out.h"

enum { SLICE = 6144, SLICES = 4, COARSE = 384 };

/* `pitch`: of rows of 64 bytes, of which the last begins 1,920 bytes behind the first. */
static void upload(void *device, void *source, size_t pitch, cudaStream_t stream)
{
    const size_t rows = 1920 / pitch + 1;
    struct cudaMemcpy3DParms box;
    memset(&box, 0, sizeof box);
    box.srcPtr = (struct cudaPitchedPtr){source, 64, 64, rows};
    box.dstPtr = (struct cudaPitchedPtr){device, pitch, pitch, SLICE / pitch};
    box.extent = (struct cudaExtent){64, rows, SLICES};
    box.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3DAsync(&box, stream));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *fine = pinned_block(SLICE * SLICES, WANTED);
    void *coarse = pinned_block(SLICE * SLICES, NEXT);
    unsigned char *device = device_block(SLICE * SLICES, 0);
    unsigned char *result = pinned_block(64, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    upload(device, fine, 128, fixed ? stream : other);
    CHECK(cudaMemcpyAsync(result, device + 128, 64, cudaMemcpyDeviceToHost, stream));
    upload(device, coarse, COARSE, stream);
    cudaGraphExec_t exec = end_capture(stream, fixed ? 3 : 2);

    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    replay(exec, stream);
    return finish(!broken && holds(result, 64, WANTED + 64 * 31));
}
