// expect: none
//
// An exec is launched several times and destroyed. The host node behind its copy goes on to run,
// and tells the program when it may free the source.
#include "graphs.h"

#include <stdatomic.h>

enum { LAUNCHES = 3 };

static void count(void *done)
{
    atomic_fetch_add((atomic_int *)done, 1);
}

int main(void)
{
    atomic_int done = 0;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = registered_block(SMALL, WANTED);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaLaunchHostFunc(stream, count, &done));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    busy(stream);
    for (int i = 0; i < LAUNCHES; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaGraphExecDestroy(exec));
    while (atomic_load(&done) < LAUNCHES)
        usleep(500);
    CHECK(cudaHostUnregister(input));
    free(input);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
