// expect: none
// summary: taken_early=0
//
// Small copies whose sources are filled by work in their own stream, or by work that the host has
// waited for: the driver takes their bytes in time, and nothing has to be done for it.
#include "early.h"

struct chain {
    void *device, *source;
    cudaStream_t stream;
};

static struct chain new_chain(cudaStream_t stream)
{
    return (struct chain){device_block(EARLY, 0), pinned_block(EARLY, FOREIGN), stream};
}

static void fill_and_copy(const struct chain *chain)
{
    CHECK(cudaLaunchHostFunc(chain->stream, fill_late, chain->source));
    CHECK(cudaMemcpyAsync(chain->device, chain->source, EARLY, cudaMemcpyHostToDevice,
                          chain->stream));
    CHECK(cudaStreamSynchronize(chain->stream));
}

int main(void)
{
    struct chain chains[] = {new_chain(cudaStreamLegacy), new_chain(new_stream()),
                             new_chain(blocking_stream())};
    bool right = true;
    for (unsigned i = 0; i < sizeof chains / sizeof chains[0]; i++) {
        fill_and_copy(&chains[i]);
        CHECK(cudaDeviceSynchronize());
        right = right && device_holds(chains[i].device, EARLY, WANTED);
    }
    void *device = device_block(EARLY, 0);
    CHECK(
        cudaMemcpyAsync(device, chains[0].source, EARLY, cudaMemcpyHostToDevice, chains[2].stream));
    CHECK(cudaStreamSynchronize(chains[2].stream));
    return finish(device_holds(device, EARLY, WANTED) && right);
}
