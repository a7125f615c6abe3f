// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// The local gets its value behind the captured copy, before the capture ends: what the frame held
// last is what counts.
#include "graphs.h"

enum { BYTES = 128 };

static TWIN_HELPER cudaGraphExec_t record(void *device, cudaStream_t stream)
{
    static unsigned char kept[BYTES];
    unsigned char local[BYTES];
    unsigned char *source = fixed ? kept : local;
    fill(source, BYTES, FOREIGN);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, stream));
    fill(source, BYTES, WANTED);
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
