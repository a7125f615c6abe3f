// expect: none
//
// Small sources by turns out of one ring, each slot waited for before it is used again.
#include "touch.h"

enum { SLOT = 64, SLOTS = 8, STEPS = 64 };

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t sent[SLOTS];
    char *ring = (char *)pinned_block(SLOT * SLOTS, 0);
    char *device = (char *)device_block(SLOT * STEPS, 0);
    for (int i = 0; i < SLOTS; i++)
        sent[i] = new_event();

    for (int i = 0; i < STEPS; i++) {
        int slot = i % SLOTS;
        if (i >= SLOTS)
            CHECK(cudaEventSynchronize(sent[slot]));
        fill(ring + slot * SLOT, SLOT, WANTED + i);
        CHECK(cudaMemcpyAsync(device + i * SLOT, ring + slot * SLOT, SLOT, cudaMemcpyHostToDevice,
                              stream));
        CHECK(cudaEventRecord(sent[slot], stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    bool right = true;
    for (int i = 0; i < STEPS; i++)
        right = right && device_holds(device + i * SLOT, SLOT, WANTED + i);
    return finish(right);
}
