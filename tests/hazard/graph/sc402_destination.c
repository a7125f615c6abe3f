// expect: SC402 action=reported certainty=observed event=cuGraphLaunch
//
// The result lands in an array of a function that has returned. What lies there by then is lost:
// this is reported and cannot be healed. Here it is a frame that nobody looks at.
#include "graphs.h"

enum { BYTES = 4096 };

static TWIN_HELPER cudaGraphExec_t record(const void *device, cudaStream_t stream)
{
    static unsigned char kept[BYTES];
    unsigned char result[BYTES];
    return captured_exec(fixed ? kept : result, device, BYTES, cudaMemcpyDeviceToHost, stream);
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
    void *device = device_block(BYTES, WANTED);
    cudaGraphExec_t exec = record(device, stream);

    launch(exec, stream);
    return finish(device_holds(device, BYTES, WANTED));
}
