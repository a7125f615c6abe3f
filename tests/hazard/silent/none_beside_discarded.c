// expect: none
//
// Captures whose graphs are thrown away: one is invalidated, and one loses its stream. What ran
// beside them is in no graph's place; the program then works without one.
#include "left_out.h"

static void *source, *input, *result, *seen;

static void capture_in(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    CHECK(cudaStreamBeginCapture(stream, mode));
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, 0));
    capture_copy(result, input, stream);
    CHECK(cudaMemcpy(seen, result, SMALL, cudaMemcpyDeviceToHost));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    source = pinned_block(SMALL, WANTED);
    input = device_block(SMALL, 0);
    result = device_block(SMALL, 0);
    seen = pinned_block(SMALL, 0);

    capture_in(stream, cudaStreamCaptureModeGlobal);
    cudaEvent_t event = new_event();
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaStreamWaitEvent(other, event, 0)); /* and never comes back */
    capture_copy(result, input, other);
    bool right = ends_with(cudaErrorStreamCaptureUnjoined, stream);

    capture_in(stream, cudaStreamCaptureModeRelaxed);
    CHECK(cudaStreamDestroy(stream));
    stream = new_stream();
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, stream));
    capture_copy(result, input, stream);
    CHECK(cudaDeviceSynchronize());
    return finish(!broken && right && device_holds(result, SMALL, WANTED));
}
