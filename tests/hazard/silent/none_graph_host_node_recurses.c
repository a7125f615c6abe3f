// expect: none
// options: stall_limit=60s
//
// A graph's host node fills the source of a copy behind it on another stream, from deep inside: a
// hundred calls lie between it and the driver that called it.
#include "graphs.h"

static TWIN_HELPER void fill_deep(void *memory, volatile int *depth)
{
    if (*depth == 0) {
        fill(memory, SMALL, WANTED);
        return;
    }
    *depth -= 1;
    fill_deep(memory, depth);
    *depth += 1; /* behind the call, so that each has a frame */
}

static void fill_from_deep(void *memory)
{
    volatile int depth = 100;
    fill_deep(memory, &depth);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t launched = new_event();
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaLaunchHostFunc(stream, fill_from_deep, source));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventRecord(launched, stream));
    CHECK(cudaStreamWaitEvent(other, launched, 0));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, other));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
