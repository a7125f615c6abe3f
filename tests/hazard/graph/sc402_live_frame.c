// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// The function that launches has a frame where that of the function that captured was: the address
// is that of a local that is alive, but of another one.
#include "graphs.h"

enum { BYTES = 4096 };

static TWIN_HELPER cudaGraphExec_t record(void *device, cudaStream_t stream)
{
    static unsigned char kept[BYTES];
    unsigned char table[BYTES];
    fill(fixed ? kept : table, BYTES, WANTED);
    return captured_exec(device, fixed ? kept : table, BYTES, cudaMemcpyHostToDevice, stream);
}

static TWIN_HELPER void launch(cudaGraphExec_t exec, cudaStream_t stream)
{
    unsigned char frame[FRAME];
    fill(frame, sizeof frame, FOREIGN);
    in_use(frame);
    replay(exec, stream);
    in_use(frame);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    cudaGraphExec_t exec = record(device, stream);

    launch(exec, stream);
    return finish(device_holds(device, BYTES, WANTED));
}
