// expect: none
//
// An event that a capture has recorded is recorded again by the launch of a graph: it stands for
// that from then on, also while the capture is open, and the legacy stream waits for it.
#include "capture.h"

#include <stdatomic.h>

static void be_late(void *done)
{
    usleep(BUSY_US);
    atomic_store((atomic_int *)done, 1);
}

/* Records the event behind a host function that takes its time. */
static cudaGraphExec_t recording(cudaEvent_t event, atomic_int *done)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t function, record;
    cudaGraphExec_t exec = NULL;
    struct cudaHostNodeParams params = {be_late, done};
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddHostNode(&function, graph, NULL, 0, &params));
    CHECK(cudaGraphAddEventRecordNode(&record, graph, &function, 1, event));
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

int main(void)
{
    static atomic_int done;
    cudaStream_t stream = new_stream();
    cudaStream_t launches = new_stream();
    cudaEvent_t event = new_event();
    cudaGraph_t graph = NULL;
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    cudaGraphExec_t exec = recording(event, &done);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    capture_copy(to, from, stream);
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaGraphLaunch(exec, launches));
    CHECK(cudaStreamWaitEvent(0, event, 0));
    CHECK(cudaStreamSynchronize(0));
    int behind = atomic_load(&done);
    CHECK(cudaStreamEndCapture(stream, &graph));
    return finish(behind);
}
