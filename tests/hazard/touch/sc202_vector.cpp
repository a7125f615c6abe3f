// expect: SC202 action=stalled kind=registered certainty=observed
//
// A sum over a std::vector whose middle a copy is still to fill.
#include "touch.h"

#include <numeric>
#include <vector>

int main()
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    std::vector<unsigned char> results(LARGE + 2 * ROOM);
    unsigned char *batch = results.data() + ROOM;
    CHECK(cudaMemset(device, 3, LARGE));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaHostRegister(results.data(), results.size(), cudaHostRegisterDefault));

    busy(stream);
    CHECK(cudaMemcpyAsync(batch, device, LARGE, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    size_t sum = std::accumulate(batch, batch + LARGE, size_t{0});

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaHostUnregister(results.data()));
    return finish(sum == 3 * LARGE);
}
