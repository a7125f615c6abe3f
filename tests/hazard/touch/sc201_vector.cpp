// expect: SC201 action=stalled kind=registered certainty=observed
//
// A std::vector that is registered once and refilled at every turn. Its first and last page it
// shares with other blocks, so the batch lies between them.
#include "touch.h"

#include <algorithm>
#include <vector>

int main()
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    std::vector<unsigned char> staging(LARGE + 2 * ROOM);
    unsigned char *batch = staging.data() + ROOM;
    fill(batch, LARGE, WANTED);
    CHECK(cudaHostRegister(staging.data(), staging.size(), cudaHostRegisterDefault));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, batch, LARGE, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    std::fill(batch, batch + LARGE, static_cast<unsigned char>(0xee));

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaHostUnregister(staging.data()));
    return finish(device_holds(device, LARGE, WANTED) && batch[LARGE - 1] == 0xee);
}
