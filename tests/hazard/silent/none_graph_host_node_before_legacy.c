// expect: none
// options: stacks=site:stall_limit=60s
//
// A graph's host node reads the results of copies that stand before the launch on another blocking
// stream. Behind the launch comes work of the legacy stream, and whatever is asked of the blocking
// streams from then on comes after that: who waited there for the copies would wait for himself.
// No stack tells that the driver has called the node, but it runs on a thread of the driver's.
#include "graphs.h"

enum { COPIES = 8, BYTES = 4096 };

struct results {
    unsigned char *bytes[COPIES];
    bool right;
};

static void read_results(void *argument)
{
    struct results *results = (struct results *)argument;
    results->right = true;
    for (unsigned i = 0; i < COPIES; i++)
        results->right = results->right && holds(results->bytes[i], BYTES, WANTED);
}

int main(void)
{
    cudaStream_t copies = blocking_stream();
    cudaStream_t launches = blocking_stream();
    cudaEvent_t copied = new_event();
    void *from = device_block(BYTES, WANTED);
    void *elsewhere = device_block(BYTES, 0);
    struct results results = {{NULL}, false};
    for (unsigned i = 0; i < COPIES; i++)
        results.bytes[i] = (unsigned char *)pinned_block(BYTES, 0);
    begin_capture(launches);
    CHECK(cudaLaunchHostFunc(launches, read_results, &results));
    cudaGraphExec_t exec = instantiate_only(end_capture(launches));

    busy(copies);
    for (unsigned i = 0; i < COPIES; i++)
        CHECK(cudaMemcpyAsync(results.bytes[i], from, BYTES, cudaMemcpyDeviceToHost, copies));
    CHECK(cudaEventRecord(copied, copies));
    CHECK(cudaStreamWaitEvent(launches, copied, 0));
    CHECK(cudaGraphLaunch(exec, launches));
    CHECK(cudaMemsetAsync(elsewhere, 1, BYTES, 0));

    CHECK(cudaDeviceSynchronize());
    return finish(results.right);
}
