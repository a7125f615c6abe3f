// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// The result lands in an array of a function that has returned: on the frame of another one.
#include "graphs.h"

enum { BYTES = 4096 };

static TWIN_HELPER cudaGraphExec_t record(const void *device, cudaStream_t stream)
{
    static unsigned char kept[BYTES];
    unsigned char result[BYTES];
    return captured_exec(fixed ? kept : result, device, BYTES, cudaMemcpyDeviceToHost, stream);
}

static TWIN_HELPER bool launch(cudaGraphExec_t exec, cudaStream_t stream)
{
    unsigned char frame[FRAME];
    fill(frame, sizeof frame, FOREIGN);
    in_use(frame);
    replay(exec, stream);
    in_use(frame);
    return holds(frame, sizeof frame, FOREIGN);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, WANTED);
    cudaGraphExec_t exec = record(device, stream);

    return finish(launch(exec, stream));
}
