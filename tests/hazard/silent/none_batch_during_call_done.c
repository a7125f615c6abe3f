// expect: none
// in-place: SC201 action=stalled kind=pinned
// in-place: SC202 action=stalled kind=pinned
//
// Batches with order DURING_API_CALL are complete when the call returns, save for those out of
// pageable memory to the device's. Where the source is not pageable, or the target managed, the
// call waits for its stream: an upload before it is done as well.
#include "batch.h"
#include "managed.h"

enum { COPIES = 7 };

struct copy {
    void *to, *from;
    bool waits;
};

static bool is_done(const struct copy *copy, void *sent, void *device, cudaStream_t stream)
{
    fill(sent, SMALL, WANTED);
    busy(stream);
    CHECK(cudaMemcpyAsync(device, sent, SMALL, cudaMemcpyHostToDevice, stream));
    batch_copy(copy->to, copy->from, SMALL, cudaMemcpySrcAccessOrderDuringApiCall, stream);
    bool right = holds(copy->to, SMALL, WANTED);
    fill(copy->to, SMALL, FOREIGN);
    if (copy->waits)
        fill(sent, SMALL, FOREIGN);
    CHECK(cudaStreamSynchronize(stream));
    return right && holds(copy->to, SMALL, FOREIGN) && device_holds(device, SMALL, WANTED);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED), *sent = pinned_block(SMALL, WANTED);
    void *device = device_block(SMALL, 0);
    const struct copy copies[COPIES] = {
        {pinned_block(SMALL, 0), from, true},
        {filled_block(SMALL, 0), from, true},
        {managed_block(SMALL, 0), pinned_block(SMALL, WANTED), true},
        {filled_block(SMALL, 0), managed_block(SMALL, WANTED), true},
        {pinned_block(SMALL, 0), pinned_block(SMALL, WANTED), true},
        {filled_block(SMALL, 0), pinned_block(SMALL, WANTED), false},
        {pinned_block(SMALL, 0), filled_block(SMALL, WANTED), false},
    };
    bool right = true;
    for (int i = 0; i < COPIES; i++)
        right = is_done(&copies[i], sent, device, stream) && right;
    return finish(right);
}
