// expect: none
// options: device=1
//
// Memory that graphs free, allocated by a pool or by another graph. What uses it comes before the
// free, and what others own next, at the same address or beside it, comes in no order with that:
// the driver sees to it. A graph is made while its memory is a larger block than the one that it
// frees.
#include "graphs.h"

static cudaStream_t one, two, three;
static cudaEvent_t used;

static cudaGraphExec_t frees(void *memory)
{
    begin_capture(two);
    CHECK(cudaFreeAsync(memory, two));
    return instantiate_only(end_capture(two));
}

static void *allocated(size_t size_bytes, cudaStream_t stream)
{
    void *memory = NULL;
    CHECK(cudaMallocAsync(&memory, size_bytes, stream));
    return memory;
}

static void fill_in_order(void *memory, const void *source)
{
    busy(one);
    CHECK(cudaMemcpyAsync(memory, source, SMALL, cudaMemcpyHostToDevice, one));
    CHECK(cudaEventRecord(used, one));
    CHECK(cudaStreamWaitEvent(two, used, 0));
}

/* The next owner is on a third stream. */
static void of_a_pool(const void *source)
{
    for (int turn = 0; turn < 3; turn++) {
        void *memory = allocated(SMALL, one);
        cudaGraphExec_t exec = frees(memory);
        fill_in_order(memory, source);
        CHECK(cudaGraphLaunch(exec, two));
        void *next = allocated(SMALL, three);
        CHECK(cudaMemsetAsync(next, turn, SMALL, three));
        CHECK(cudaFreeAsync(next, three));
    }
    CHECK(cudaDeviceSynchronize());
}

static void of_a_graph(const void *source)
{
    void *memory = NULL;
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
}

static void of_a_smaller_block(const void *source)
{
    char *large = allocated(2 * SMALL, one);
    cudaGraphExec_t exec = frees(large);
    CHECK(cudaFreeAsync(large, one));
    CHECK(cudaDeviceSynchronize());
    char *small = allocated(SMALL, one), *beside = allocated(SMALL, one);
    CHECK(cudaStreamSynchronize(one));
    busy(three);
    CHECK(cudaMemsetAsync(beside, 1, SMALL, three));
    if (small == large) {
        fill_in_order(small, source);
        CHECK(cudaGraphLaunch(exec, two));
    }
    CHECK(cudaDeviceSynchronize());
}

int main(void)
{
    one = new_stream();
    two = new_stream();
    three = new_stream();
    used = new_event();
    void *source = pinned_block(SMALL, WANTED), *result = device_block(SMALL, 0);
    of_a_pool(source);
    of_a_graph(source);
    of_a_smaller_block(source);
    CHECK(cudaMemcpy(result, source, SMALL, cudaMemcpyHostToDevice));
    return finish(device_holds(result, SMALL, WANTED));
}
