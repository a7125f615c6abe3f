// expect: SC403 action=stalled certainty=observed
//
// One thread launches, another one, which makes no CUDA call, prepares the next input.
#include "graphs.h"
#include "touch.h"

#include <pthread.h>

static void *prepare(void *input)
{
    fill(input, SMALL, FOREIGN);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, input, SMALL, cudaMemcpyHostToDevice, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(pthread_create(&thread, NULL, prepare, input));
    CHECK(pthread_join(thread, NULL));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
