// expect: SC301 action=rerouted certainty=observed
// expect: SC302 action=rerouted certainty=observed
//
// docs/wild-bugs.md, row 23: a plugin of the communication library connects when it is first used,
// which is within the program's capture. It allocates a flush buffer, and on the legacy stream it
// copies a word that says where. Fixed, it does so under the Relaxed mode and on a stream of
// its own.
#include "capture.h"

static void *handles;

static void connect_plugin(void *handle)
{
    void *flush = NULL;
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    if (!fixed) {
        TRY(cudaMalloc(&flush, SMALL));
        TRY(cudaMemcpy(handles, handle, SMALL, cudaMemcpyHostToDevice));
        return;
    }
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    cudaStream_t own = new_stream();
    TRY(cudaMalloc(&flush, SMALL));
    TRY(cudaMemcpyAsync(handles, handle, SMALL, cudaMemcpyHostToDevice, own));
    TRY(cudaStreamSynchronize(own));
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *handle = filled_block(SMALL, FOREIGN);
    handles = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    connect_plugin(handle);
    capture_copy(to, from, stream);
    replay(end_capture(stream, 1), stream);
    return finish(!broken && device_holds(to, SMALL, WANTED) &&
                  device_holds(handles, SMALL, FOREIGN));
}
