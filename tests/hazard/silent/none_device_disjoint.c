// expect: none
// options: device=1
//
// Streams that nothing orders use neighbouring bytes of one allocation, and columns of one image.
#include "twin.h"

enum { STREAMS = 4, ROWS = 32, WIDTH = 256 };

int main(void)
{
    char *source = pinned_block(STREAMS * SMALL, WANTED);
    char *device = device_block(STREAMS * SMALL, FOREIGN);
    char *image = device_block(STREAMS * WIDTH * ROWS, 0);

    for (size_t i = 0; i < STREAMS; i++) {
        cudaStream_t stream = new_stream();
        busy(stream);
        CHECK(cudaMemcpyAsync(device + i * SMALL, source + i * SMALL, SMALL, cudaMemcpyHostToDevice,
                              stream));
        CHECK(cudaMemset2DAsync(image + i * WIDTH, STREAMS * WIDTH, (int)i, WIDTH, ROWS, stream));
    }
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, STREAMS * SMALL, WANTED));
}
