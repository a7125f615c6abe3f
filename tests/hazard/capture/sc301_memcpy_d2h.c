// expect: SC301 action=rerouted certainty=observed event=cuMemcpyDtoH_v2
//
// A synchronous copy to the host, on the legacy stream, while a blocking stream captures what will
// write the memory that it reads. It reads what is there now.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, FOREIGN);
    void *result = filled_block(SMALL, 0);

    if (fixed)
        CHECK(cudaMemcpy(result, to, SMALL, cudaMemcpyDeviceToHost));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        TRY(cudaMemcpy(result, to, SMALL, cudaMemcpyDeviceToHost));
    bool right = holds(result, SMALL, FOREIGN);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
