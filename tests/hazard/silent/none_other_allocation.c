// expect: none
//
// A pool of slots in one pinned allocation: one slot is in flight, the program works in the next.
#include "touch.h"

enum { SLOT = 1000, SLOTS = 50 };

int main(void)
{
    struct gate gate = {0};
    cudaStream_t stream = new_stream();
    void *device = device_block(SLOT, WANTED);
    char *pool = (char *)pinned_block(SLOT * SLOTS, 0);
    char *slot = pool + 10 * SLOT;

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(slot, device, SLOT, cudaMemcpyDeviceToHost, stream));
    fill(slot - SLOT, SLOT, FOREIGN);
    fill(slot + SLOT, SLOT, FOREIGN);
    bool right = holds(slot - SLOT, SLOT, FOREIGN) && holds(slot + SLOT, SLOT, FOREIGN);
    open_gate(&gate);

    CHECK(cudaStreamSynchronize(stream));
    right = right && !gate.gave_up && holds(slot, SLOT, WANTED);
    return finish(right && holds(slot - SLOT, SLOT, FOREIGN) && holds(slot + SLOT, SLOT, FOREIGN));
}
