// expect: SC101 action=deferred kind=registered certainty=observed
//
// A 3D copy: 16 layers of 8 rows of 512 bytes.
#include "twin.h"

enum { WIDTH = 512, HEIGHT = 8, DEPTH = 16 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    struct cudaMemcpy3DParms copy = {
        .srcPtr = {.ptr = source, .pitch = WIDTH, .xsize = WIDTH, .ysize = HEIGHT},
        .dstPtr = {.ptr = device, .pitch = WIDTH, .xsize = WIDTH, .ysize = HEIGHT},
        .extent = {.width = WIDTH, .height = HEIGHT, .depth = DEPTH},
        .kind = cudaMemcpyHostToDevice,
    };

    busy(stream);
    CHECK(cudaMemcpy3DAsync(&copy, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
