// expect: none
//
// The local belongs to a function further up, which is still there; captured by one function and
// launched by others, at different depths.
#include "graphs.h"

enum { BYTES = 256 };

static TWIN_HELPER cudaGraphExec_t record(void *device, const void *local, cudaStream_t stream)
{
    return captured_exec(device, local, BYTES, cudaMemcpyHostToDevice, stream);
}

static TWIN_HELPER void launch_deep(cudaGraphExec_t exec, cudaStream_t stream, int depth)
{
    unsigned char frame[1024];
    fill(frame, sizeof frame, FOREIGN);
    in_use(frame);
    if (depth > 0)
        launch_deep(exec, stream, depth - 1);
    else
        replay(exec, stream);
    in_use(frame);
}

static TWIN_HELPER bool run(cudaStream_t stream)
{
    unsigned char local[BYTES];
    bool right = true;
    void *device = device_block(BYTES, 0);
    cudaGraphExec_t exec = record(device, local, stream);
    for (int depth = 0; depth < 20; depth++) {
        fill(local, sizeof local, WANTED + depth);
        in_use(local);
        launch_deep(exec, stream, depth);
        right = right && device_holds(device, sizeof local, WANTED + depth);
    }
    return right;
}

int main(void)
{
    return finish(run(new_stream()));
}
