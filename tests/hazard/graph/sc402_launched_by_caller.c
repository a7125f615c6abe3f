// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// The helper that sends has returned, the function that captures and launches has not: the address
// is below all frames that are left but those of the launch.
#include "graphs.h"

enum { BYTES = 512 };

static TWIN_HELPER void send_parameters(void *device, cudaStream_t stream)
{
    static unsigned char kept[BYTES];
    unsigned char parameters[BYTES];
    fill(fixed ? kept : parameters, BYTES, WANTED);
    CHECK(
        cudaMemcpyAsync(device, fixed ? kept : parameters, BYTES, cudaMemcpyHostToDevice, stream));
}

static TWIN_HELPER void run(void *device, cudaStream_t stream)
{
    begin_capture(stream);
    send_parameters(device, stream);
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));
    reuse_stack();
    replay(exec, stream);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);

    run(device, stream);
    return finish(device_holds(device, BYTES, WANTED));
}
