// expect: none
// options: device=1
//
// Graphs that allocate and free memory: of their own, of a pool, and memory that one of them
// allocates and the other one frees. Their copies and memsets are ordered by events where they use
// the same memory. The same graphs are launched again and again, on streams that nothing else
// orders.
#include "graphs.h"

static cudaStream_t one, two;
static void *handed;

/* Of memory that only the launch has. */
static cudaGraphExec_t scratches(void *result, const void *source, cudaStream_t stream)
{
    void *between = NULL;
    begin_capture(stream);
    CHECK(cudaMallocAsync(&between, SMALL, stream));
    CHECK(cudaMemcpyAsync(between, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(result, between, SMALL, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaFreeAsync(between, stream));
    return instantiate_only(end_capture(stream));
}

static cudaGraphExec_t hands_on(const void *source)
{
    begin_capture(one);
    CHECK(cudaMallocAsync(&handed, SMALL, one));
    CHECK(cudaMemcpyAsync(handed, source, SMALL, cudaMemcpyHostToDevice, one));
    return instantiate_only(end_capture(one));
}

static cudaGraphExec_t takes(void *result)
{
    begin_capture(two);
    CHECK(cudaMemcpyAsync(result, handed, SMALL, cudaMemcpyDeviceToDevice, two));
    CHECK(cudaFreeAsync(handed, two));
    return instantiate_only(end_capture(two));
}

int main(void)
{
    cudaEvent_t filled = new_event(), taken = new_event();
    one = new_stream();
    two = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *results[3];
    for (int i = 0; i < 3; i++)
        results[i] = device_block(SMALL, FOREIGN);
    cudaGraphExec_t first = scratches(results[0], source, one);
    cudaGraphExec_t second = scratches(results[1], source, two);
    cudaGraphExec_t gives = hands_on(source), frees = takes(results[2]);
    for (int turn = 0; turn < 4; turn++) {
        CHECK(cudaGraphLaunch(first, one));
        CHECK(cudaGraphLaunch(second, two));
        CHECK(cudaStreamWaitEvent(one, taken, 0));
        CHECK(cudaGraphLaunch(gives, one));
        CHECK(cudaEventRecord(filled, one));
        CHECK(cudaStreamWaitEvent(two, filled, 0));
        CHECK(cudaGraphLaunch(frees, two));
        CHECK(cudaEventRecord(taken, two));
    }
    CHECK(cudaDeviceSynchronize());
    bool right = true;
    for (int i = 0; i < 3; i++)
        right &= device_holds(results[i], SMALL, WANTED);
    return finish(right);
}
