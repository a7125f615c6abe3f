// expect: SC301 action=rerouted certainty=observed
//
// docs/wild-bugs.md, row 25: the forward pass is captured, and the backward pass, on a thread of
// its own where no stream is current, goes to the legacy stream. Fixed, it is given the stream of
// the forward pass, and so becomes part of the graph.
#include "capture.h"

struct pass {
    void *gradient, *loss;
    cudaStream_t stream;
};

static void *backward(void *argument)
{
    struct pass *pass = (struct pass *)argument;
    TRY(cudaMemcpyAsync(pass->gradient, pass->loss, SMALL, cudaMemcpyDeviceToDevice, pass->stream));
    return NULL;
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *input = device_block(SMALL, WANTED);
    void *output = device_block(SMALL, 0);
    struct pass pass = {.gradient = device_block(SMALL, 0),
                        .loss = device_block(SMALL, FOREIGN),
                        .stream = fixed ? stream : 0};

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(output, input, stream);
    on_other_thread(backward, &pass);
    replay(end_capture(stream, fixed ? 2 : 1), stream);
    return finish(!broken && device_holds(output, SMALL, WANTED) &&
                  device_holds(pass.gradient, SMALL, FOREIGN));
}
