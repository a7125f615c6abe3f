// expect: SC301 action=rerouted certainty=observed
//
// An asynchronous copy of a box to the device, on the legacy stream instead of one of its own,
// while a blocking stream captures.
#include "capture.h"

enum { WIDTH = 512, HEIGHT = 8, DEPTH = 16 }; /* 64 KB */

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t uploads = fixed ? new_stream() : 0;
    void *from = device_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    struct cudaMemcpy3DParms box = {
        .srcPtr = {pinned_block(SMALL, WANTED), WIDTH, WIDTH, HEIGHT},
        .dstPtr = {from, WIDTH, WIDTH, HEIGHT},
        .extent = {WIDTH, HEIGHT, DEPTH},
        .kind = cudaMemcpyHostToDevice,
    };

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TRY(cudaMemcpy3DAsync(&box, uploads));
    capture_copy(to, from, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaStreamSynchronize(uploads));
    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
