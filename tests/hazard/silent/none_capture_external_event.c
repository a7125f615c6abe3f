// expect: none
//
// The legacy stream waits for an event that a capture has recorded as an external one, and that
// stands for live work: the capture has no part in it.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t uploads = new_stream();
    cudaEvent_t event = new_event();
    cudaGraph_t graph = NULL;
    void *from = device_block(SMALL, 0);
    void *to = device_block(SMALL, FOREIGN);
    void *source = pinned_block(SMALL, WANTED);

    busy(uploads);
    CHECK(cudaMemcpyAsync(from, source, SMALL, cudaMemcpyHostToDevice, uploads));
    CHECK(cudaEventRecord(event, uploads));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
    CHECK(cudaStreamWaitEvent(0, event, 0));
    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDeviceToDevice, 0));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaStreamSynchronize(0));
    return finish(device_holds(to, SMALL, WANTED));
}
