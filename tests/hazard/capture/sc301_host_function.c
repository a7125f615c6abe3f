// expect: SC301 action=rerouted certainty=observed event=cuLaunchHostFunc
//
// A host function on the legacy stream, instead of a stream of its own, while a blocking stream
// captures. It runs once, and not with the graph.
#include "capture.h"

#include <stdatomic.h>

static void count(void *calls)
{
    atomic_fetch_add((atomic_int *)calls, 1);
}

int main(void)
{
    atomic_int calls = 0;
    cudaStream_t stream = blocking_stream();
    cudaStream_t functions = fixed ? new_stream() : 0;
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    TRY(cudaLaunchHostFunc(functions, count, &calls));
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaStreamSynchronize(functions));
    replay(exec, stream);
    return finish(!broken && calls == 1 && device_holds(to, SMALL, WANTED));
}
