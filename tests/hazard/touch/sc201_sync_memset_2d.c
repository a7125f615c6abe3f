// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A synchronous memset clears the last columns of an image of which the last but one is still to be
// sent.
#include "twin.h"

enum { PITCH = 512, ROWS = 128, LEFT = 500 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0);
    char *image = (char *)pinned_block(SMALL, WANTED);
    char *back = (char *)filled_block(SMALL, FOREIGN);
    bool right = true;

    busy(stream);
    CHECK(cudaMemcpy2DAsync(to, PITCH, image, PITCH, LEFT, ROWS, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemset2D(image + LEFT - 1, PITCH, 1, PITCH - LEFT + 1, ROWS));

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(back, to, SMALL, cudaMemcpyDeviceToHost));
    fill(image, SMALL, WANTED);
    for (int row = 0; row < ROWS; row++)
        right = right && memcmp(image + row * PITCH, back + row * PITCH, LEFT) == 0;
    return finish(right);
}
