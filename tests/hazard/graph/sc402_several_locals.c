// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// Three locals of different sizes, in three nodes of one graph.
#include "graphs.h"

struct step {
    uint32_t index;
    double scale;
    unsigned char seed[40];
};

static TWIN_HELPER cudaGraphExec_t record(struct step *device, const struct step *wanted,
                                          cudaStream_t stream)
{
    static struct step kept;
    uint32_t index = wanted->index;
    double scale = wanted->scale;
    unsigned char seed[sizeof wanted->seed];
    memcpy(seed, wanted->seed, sizeof seed);
    kept = *wanted;

    begin_capture(stream);
    CHECK(cudaMemcpyAsync(&device->index, fixed ? &kept.index : &index, sizeof index,
                          cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(&device->scale, fixed ? &kept.scale : &scale, sizeof scale,
                          cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(device->seed, fixed ? kept.seed : seed, sizeof seed,
                          cudaMemcpyHostToDevice, stream));
    return instantiate_only(end_capture(stream));
}

int main(void)
{
    struct step wanted = {.index = 7, .scale = 0.125};
    struct step got;
    fill(wanted.seed, sizeof wanted.seed, WANTED);
    cudaStream_t stream = new_stream();
    struct step *device = (struct step *)device_block(sizeof *device, 0);
    cudaGraphExec_t exec = record(device, &wanted, stream);

    reuse_stack();
    replay(exec, stream);
    CHECK(cudaMemcpy(&got, device, sizeof got, cudaMemcpyDeviceToHost));
    bool right = got.index == wanted.index && got.scale == wanted.scale;
    return finish(right && memcmp(got.seed, wanted.seed, sizeof got.seed) == 0);
}
