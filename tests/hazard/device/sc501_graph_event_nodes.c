// expect: SC501 action=ordered kind=device direction=D2D event=cuMemsetD8Async
// options: device=1
//
// A graph of four copies, one of them from the host, with a record of an event behind each. Another
// stream waits for one of the events and clears the memory that a copy reads. The racy build waits
// for the event before that copy.
#include "graphs.h"

enum { COPIES = 4 };

int main(void)
{
    cudaStream_t work = new_stream(), other = new_stream();
    cudaEvent_t copied[COPIES];
    void *from[COPIES], *to[COPIES];
    void *source = pinned_block(SMALL, WANTED);
    for (int i = 0; i < COPIES; i++) {
        copied[i] = new_event();
        from[i] = i == 1 ? source : device_block(SMALL, WANTED);
        to[i] = device_block(SMALL, 0);
    }
    begin_capture(work);
    for (int i = 0; i < COPIES; i++) {
        CHECK(cudaMemcpyAsync(to[i], from[i], SMALL, cudaMemcpyDefault, work));
        CHECK(cudaEventRecordWithFlags(copied[i], work, cudaEventRecordExternal));
    }
    cudaGraphExec_t exec = instantiate_only(end_capture(work));

    busy(work);
    CHECK(cudaGraphLaunch(exec, work));
    CHECK(cudaStreamWaitEvent(other, copied[fixed ? 2 : 1], 0));
    CHECK(cudaMemsetAsync(from[2], 0, SMALL, other));
    CHECK(cudaStreamWaitEvent(other, copied[3], 0));
    CHECK(cudaMemsetAsync(from[3], 0, SMALL, other));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to[2], SMALL, WANTED) && device_holds(to[3], SMALL, WANTED));
}
