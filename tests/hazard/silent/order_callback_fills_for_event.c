// expect: none
//
// The host function runs on one stream, and the small copy on another that waits for it.
#include "touch.h"

enum { PARAMETERS = 1024 };

static void fill_source(void *source)
{
    sleep_patiently(10000);
    fill(source, PARAMETERS, WANTED);
}

int main(void)
{
    cudaStream_t produce = new_stream();
    cudaStream_t send = new_stream();
    cudaEvent_t filled = new_event();
    void *device = device_block(PARAMETERS, 0);
    void *source = pinned_block(PARAMETERS, FOREIGN);

    CHECK(cudaLaunchHostFunc(produce, fill_source, source));
    CHECK(cudaEventRecord(filled, produce));
    CHECK(cudaStreamWaitEvent(send, filled, 0));
    CHECK(cudaMemcpyAsync(device, source, PARAMETERS, cudaMemcpyHostToDevice, send));
    CHECK(cudaStreamSynchronize(send));
    return finish(device_holds(device, PARAMETERS, WANTED));
}
