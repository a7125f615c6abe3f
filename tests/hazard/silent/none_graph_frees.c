// expect: none
// options: device=1
//
// Memory that a graph frees and another one allocates. What uses it comes before the free, and the
// graph that allocates it anew comes behind that.
#include "graphs.h"

static cudaStream_t one, two, three;
static cudaEvent_t used;

static cudaGraphExec_t frees(void *memory)
{
    begin_capture(two);
    CHECK(cudaFreeAsync(memory, two));
    return instantiate_only(end_capture(two));
}

static void fill_in_order(void *memory, const void *source)
{
    busy(one);
    CHECK(cudaMemcpyAsync(memory, source, SMALL, cudaMemcpyHostToDevice, one));
    CHECK(cudaEventRecord(used, one));
    CHECK(cudaStreamWaitEvent(two, used, 0));
}

int main(void)
{
    one = new_stream();
    two = new_stream();
    three = new_stream();
    used = new_event();
    void *source = pinned_block(SMALL, WANTED), *result = device_block(SMALL, 0), *memory = NULL;
    begin_capture(one);
    CHECK(cudaMallocAsync(&memory, SMALL, one));
    cudaGraphExec_t allocates = instantiate_only(end_capture(one)), exec = frees(memory);
    for (int turn = 0; turn < 3; turn++) {
        CHECK(cudaGraphLaunch(allocates, one));
        fill_in_order(memory, source);
        CHECK(cudaGraphLaunch(exec, two));
        CHECK(cudaEventRecord(used, two));
        CHECK(cudaStreamWaitEvent(three, used, 0));
        CHECK(cudaGraphLaunch(allocates, three));
        CHECK(cudaMemsetAsync(memory, turn, SMALL, three));
        CHECK(cudaFreeAsync(memory, three));
        CHECK(cudaEventRecord(used, three));
        CHECK(cudaStreamWaitEvent(one, used, 0));
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(result, source, SMALL, cudaMemcpyHostToDevice));
    return finish(device_holds(result, SMALL, WANTED));
}
