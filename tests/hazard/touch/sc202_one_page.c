// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A source and a destination lie on one page. Reading the source is no hazard, reading the
// destination is one.
#include "touch.h"

enum { HALF = 2048 };

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    void *to = device_block(HALF, 0);
    void *from = device_block(HALF, WANTED);
    char *page = (char *)pinned_block(2 * HALF, 0);
    fill(page, HALF, WANTED);

    busy(up);
    busy(down);
    CHECK(cudaMemcpyAsync(to, page, HALF, cudaMemcpyHostToDevice, up));
    CHECK(cudaMemcpyAsync(page + HALF, from, HALF, cudaMemcpyDeviceToHost, down));
    if (fixed)
        CHECK(cudaStreamSynchronize(down));
    bool right = peek(page + HALF, 0) && peek(page, 0);

    CHECK(cudaDeviceSynchronize());
    return finish(right && device_holds(to, HALF, WANTED));
}
