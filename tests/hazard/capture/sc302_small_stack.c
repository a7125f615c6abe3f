// expect: SC302 action=rerouted certainty=observed event=cuMemAlloc_v2
// needs: sim
//
// A thread with a stack of 20 KB allocates a workspace while it captures. The report is made on
// that thread, and may not need more stack than the call.
#include "capture.h"

#include <pthread.h>

static void *workspace;
static cudaStream_t stream;

static void *capture(void *memory)
{
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    if (!fixed)
        TRY(cudaMalloc(&workspace, SMALL));
    capture_copy(workspace, ((void **)memory)[0], stream);
    capture_copy(((void **)memory)[1], workspace, stream);
    return end_capture(stream, 2);
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    void *graph;
    void *memory[] = {device_block(SMALL, WANTED), device_block(SMALL, 0)};

    stream = new_stream();
    if (fixed)
        CHECK(cudaMalloc(&workspace, SMALL));
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 20 << 10);
    pthread_create(&thread, &attributes, capture, memory);
    pthread_join(thread, &graph);
    replay(graph, stream);
    return finish(!broken && device_holds(memory[1], SMALL, WANTED));
}
