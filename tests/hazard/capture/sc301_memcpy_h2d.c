// expect: SC301 action=rerouted certainty=observed event=cuMemcpyHtoD_v2
//
// A synchronous copy to the device while a blocking stream captures. Its pageable source is filled
// anew as soon as it returns.
#include "capture.h"

static void upload(void *to, void *source)
{
    TRY(cudaMemcpy(to, source, SMALL, cudaMemcpyHostToDevice));
    fill(source, SMALL, FOREIGN);
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);

    if (fixed)
        upload(from, source);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    if (!fixed)
        upload(from, source);
    capture_copy(to, from, stream);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
