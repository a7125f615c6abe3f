// expect: SC302 action=rerouted certainty=observed event=cuMemFree_v2
//
// A block of device memory is freed during the capture. The next one may have its address.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *spare = device_block(SMALL, FOREIGN);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        TRY(cudaFree(spare));
    cudaGraphExec_t exec = end_capture(stream, 1);
    if (fixed)
        CHECK(cudaFree(spare));

    void *owner = device_block(SMALL, FOREIGN);
    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED) &&
                  device_holds(owner, SMALL, FOREIGN));
}
