// expect: SC202 action=stalled kind=pinned certainty=observed
//
// One load reads a whole record, of which the second half is still to come. Before, the program
// reads the first half alone, as is right.
#include "touch.h"

struct record {
    uint32_t id, result;
};

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(sizeof(uint32_t), WANTED);
    struct record *place = (struct record *)pinned_block(sizeof *place, FOREIGN);
    uint32_t wanted;
    fill(&wanted, sizeof wanted, WANTED);
    place->id = 7;

    busy(stream);
    CHECK(cudaMemcpyAsync(&place->result, device, sizeof wanted, cudaMemcpyDeviceToHost, stream));
    bool right = *(volatile uint32_t *)&place->id == 7;
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    struct record both;
    uint64_t bytes = *(volatile uint64_t *)place;
    memcpy(&both, &bytes, sizeof both);
    right = right && both.id == 7 && both.result == wanted;

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
