// expect: SC202 action=stalled kind=pinned certainty=observed
// needs: kernel (single steps)
//
// Two results of different streams lie on one page. The first is waited for and read, as is right,
// and then the second is read too early.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t later = new_stream();
    void *device = device_block(64, WANTED);
    uint64_t *place = (uint64_t *)pinned_block(64, FOREIGN);
    volatile uint64_t *results = place;
    uint64_t wanted;
    fill(&wanted, sizeof wanted, WANTED);

    CHECK(cudaMemcpyAsync(&place[0], device, 8, cudaMemcpyDeviceToHost, stream));
    busy(later);
    CHECK(cudaMemcpyAsync(&place[1], device, 8, cudaMemcpyDeviceToHost, later));
    CHECK(cudaStreamSynchronize(stream));
    bool right = results[0] == wanted;
    if (fixed)
        CHECK(cudaStreamSynchronize(later));
    right = right && results[1] == wanted;

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
