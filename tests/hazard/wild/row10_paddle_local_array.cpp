// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// wild-bugs.md row 10, with the strides in a std::array: the node keeps an address of the stack.
#include "graphs.h"

#include <array>
#include <cstdint>

using strides = std::array<int64_t, 9>;

static strides strides_of(int64_t seed)
{
    strides made;
    for (size_t i = 0; i < made.size(); i++)
        made[i] = seed * 1000 + static_cast<int64_t>(i);
    return made;
}

static TWIN_HELPER void compute(void *device, cudaStream_t stream)
{
    static strides kept;
    strides local = strides_of(WANTED);
    kept = local;
    CHECK(cudaMemcpyAsync(device, fixed ? kept.data() : local.data(), sizeof(strides),
                          cudaMemcpyHostToDevice, stream));
}

int main()
{
    strides got;
    cudaStream_t stream = new_stream();
    void *device = device_block(sizeof(strides), 0);
    begin_capture(stream);
    compute(device, stream);
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    reuse_stack();
    replay(exec, stream);
    CHECK(cudaMemcpy(got.data(), device, sizeof(strides), cudaMemcpyDeviceToHost));
    return finish(got == strides_of(WANTED));
}
