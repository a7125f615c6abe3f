// expect: SC102 action=stalled kind=registered certainty=observed
//
// realloc() of the target of an unfinished copy. What it returns must hold what the copy brings,
// so the call cannot be put off: it waits.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_block(SMALL, 0);
    void *fence = filled_block(SMALL, FOREIGN); /* the block cannot grow in place */

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(target));
    }
    void *moved = realloc(target, SMALL + SMALL / 2);
    if (!moved)
        return 3;

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    bool right = holds(moved, SMALL, WANTED) && holds(owner, SMALL, FOREIGN);
    return finish(right && holds(fence, SMALL, FOREIGN));
}
