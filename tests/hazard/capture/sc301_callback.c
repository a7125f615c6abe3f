// expect: SC301 action=rerouted certainty=observed event=cuStreamAddCallback
//
// A callback on the legacy stream, instead of a stream of its own, while a blocking stream
// captures. It is told the stream that the program named.
#include "capture.h"

#include <stdatomic.h>

static cudaStream_t told = (cudaStream_t)-1;

static void note_stream(cudaStream_t stream, cudaError_t status, void *calls)
{
    told = stream;
    atomic_fetch_add((atomic_int *)calls, status == cudaSuccess);
}

int main(void)
{
    atomic_int calls = 0;
    cudaStream_t stream = blocking_stream();
    cudaStream_t callbacks = fixed ? new_stream() : 0;
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    TRY(cudaStreamAddCallback(callbacks, note_stream, &calls, 0));
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaStreamSynchronize(callbacks));
    replay(exec, stream);
    int once = atomic_load(&calls) == 1;
    return finish(!broken && once && told == callbacks && device_holds(to, SMALL, WANTED));
}
