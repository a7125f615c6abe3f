// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A source and a destination lie on one page. The write goes into the source: one hazard, not two.
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
        CHECK(cudaStreamSynchronize(up));
    poke(page, HALF - 1);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, HALF, WANTED) && holds(page + HALF, HALF, WANTED));
}
