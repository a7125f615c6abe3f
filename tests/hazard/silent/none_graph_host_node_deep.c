// expect: none
// sim: late=0:delay=20us
//
// Many copies are queued, each with a launch behind it of which a host node says that it is done.
// The program writes each source again when it has heard so, while those behind are still in
// flight.
#include "graphs.h"

#include <stdatomic.h>

enum { DEEP = 200 };

static void count(void *done)
{
    atomic_fetch_add((atomic_int *)done, 1);
}

int main(void)
{
    atomic_int done = 0;
    void *sources[DEEP];
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaLaunchHostFunc(stream, count, &done));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));
    for (int i = 0; i < DEEP; i++)
        sources[i] = pinned_block(SMALL, i == DEEP - 1 ? WANTED : FOREIGN);

    busy(stream);
    for (int i = 0; i < DEEP; i++) {
        CHECK(cudaMemcpyAsync(device, sources[i], SMALL, cudaMemcpyHostToDevice, stream));
        CHECK(cudaGraphLaunch(exec, stream));
    }
    for (int i = 0; i < DEEP; i++) {
        while (atomic_load(&done) <= i)
            usleep(20);
        fill(sources[i], SMALL, 0);
    }

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
