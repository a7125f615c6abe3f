// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// The first launch comes from the function that owns the local, and is well. The second comes from
// elsewhere.
#include "graphs.h"

enum { BYTES = 128 };

static TWIN_HELPER cudaGraphExec_t run(void *device, cudaStream_t stream)
{
    static unsigned char kept[BYTES];
    unsigned char local[BYTES];
    unsigned char *source = fixed ? kept : local;
    fill(source, BYTES, FOREIGN);
    cudaGraphExec_t exec = captured_exec(device, source, BYTES, cudaMemcpyHostToDevice, stream);
    fill(source, BYTES, WANTED);
    replay(exec, stream);
    return exec;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    cudaGraphExec_t exec = run(device, stream);
    bool right = device_holds(device, BYTES, WANTED);

    CHECK(cudaMemset(device, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    reuse_stack();
    replay(exec, stream);
    return finish(right && device_holds(device, BYTES, WANTED));
}
