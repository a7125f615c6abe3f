// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// An array of 8 KB, on the frame of a helper of the function that captures.
#include "graphs.h"

enum { BYTES = 8 << 10 };

static TWIN_HELPER void send_table(void *device, cudaStream_t stream)
{
    static unsigned char kept[BYTES];
    unsigned char table[BYTES];
    fill(fixed ? kept : table, BYTES, WANTED);
    CHECK(cudaMemcpyAsync(device, fixed ? kept : table, BYTES, cudaMemcpyHostToDevice, stream));
}

static TWIN_HELPER cudaGraphExec_t record(void *device, cudaStream_t stream)
{
    begin_capture(stream);
    send_table(device, stream);
    return instantiate_only(end_capture(stream));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    cudaGraphExec_t exec = record(device, stream);

    reuse_stack();
    replay(exec, stream);
    return finish(device_holds(device, BYTES, WANTED));
}
