// expect: SC301 action=rerouted certainty=observed event=cuMemcpyDtoH_v2
//
// The capture began on a non-blocking stream. It is a blocking one that joined it by an event, and
// thereby captures as well, that the copy on the legacy stream meets.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t side = fixed ? new_stream() : blocking_stream();
    cudaEvent_t fork = new_event();
    cudaEvent_t join = new_event();
    void *from = device_block(SMALL, WANTED);
    void *between = device_block(SMALL, FOREIGN);
    void *to = device_block(SMALL, 0);
    void *read = fixed ? device_block(SMALL, FOREIGN) : between;
    void *result = filled_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TRY(cudaEventRecord(fork, stream));
    TRY(cudaStreamWaitEvent(side, fork, 0));
    capture_copy(between, from, side);
    TRY(cudaMemcpy(result, read, SMALL, cudaMemcpyDeviceToHost));
    bool right = holds(result, SMALL, FOREIGN);
    TRY(cudaEventRecord(join, side));
    TRY(cudaStreamWaitEvent(stream, join, 0));
    capture_copy(to, between, stream);

    replay(end_capture(stream, 2), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
