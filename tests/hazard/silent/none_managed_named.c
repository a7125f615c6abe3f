// expect: none
//
// Copies whose kind names managed memory as the device's, or as the host's. A small upload out of
// the target follows, on the same stream, and on another one that waits for an event.
#include "managed.h"

enum { PART = 1024, CHAINS = 6 };

struct chain {
    managed_copy *copy;
    void *from, *to, *out;
};

int main(void)
{
    cudaStream_t stream = new_stream(), other = new_stream();
    cudaEvent_t copied = new_event();
    const void *wanted = device_block(PART, WANTED);
    struct chain chains[CHAINS] = {
        {copy_up, pinned_block(PART, FOREIGN), managed_block(PART, FOREIGN), NULL},
        {copy_up, managed_block(PART, FOREIGN), managed_block(PART, FOREIGN), NULL},
        {copy_up, managed_block(PART, FOREIGN), device_block(PART, FOREIGN), NULL},
        {copy_down, managed_block(PART, FOREIGN), pinned_block(PART, FOREIGN), NULL},
        {copy_down, managed_block(PART, FOREIGN), managed_block(PART, FOREIGN), NULL},
        {copy_down, device_block(PART, FOREIGN), managed_block(PART, FOREIGN), NULL},
    };
    bool right = true;
    for (int i = 0; i < CHAINS; i++)
        chains[i].out = device_block(PART, 0);

    occupy(stream);
    for (int i = 0; i < CHAINS; i++) {
        struct chain *chain = &chains[i];
        CHECK(cudaMemcpyAsync(chain->from, wanted, PART, cudaMemcpyDefault, stream));
        chain->copy(chain->to, chain->from, PART, stream);
        CHECK(cudaEventRecord(copied, stream));
        CHECK(cudaStreamWaitEvent(other, copied, 0));
        CHECK(cudaMemcpyAsync(chain->out, chain->to, PART, cudaMemcpyDefault,
                              i % 2 ? other : stream));
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < CHAINS; i++)
        right = right && device_holds(chains[i].out, PART, WANTED);
    return finish(right);
}
