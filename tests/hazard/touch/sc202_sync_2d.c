// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A synchronous copy of columns, of which the first is still to come.
#include "twin.h"

enum { PITCH = 512, ROWS = 128, LEFT = 200, RIGHT = 199 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, WANTED);
    char *image = (char *)pinned_block(SMALL, WANTED);
    memset(image + 5 * PITCH + RIGHT, 0xee, 1);

    busy(stream);
    CHECK(cudaMemcpy2DAsync(image, PITCH, from, PITCH, LEFT, ROWS, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy2D((char *)to + RIGHT, PITCH, image + RIGHT, PITCH, PITCH - RIGHT, ROWS,
                       cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
