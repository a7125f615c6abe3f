// expect: none
// options: stacks=site:stall_limit=60s
// sim: launch=20ms
//
// While one thread launches a graph with a host node, another waits for the device. The node fills
// the source of a copy behind the launch, and where no stack tells that the driver has called it,
// it may not be taken for a thread that has to wait for that copy.
#include <pthread.h>
#include <stdatomic.h>

#include "graphs.h"

enum { TURNS = 8, SLICE_US = 5000 };

static atomic_bool launched;

static void fill_source(void *source)
{
    fill(source, SMALL, WANTED);
}

static void *wait_for_device(void *unused)
{
    while (!atomic_load(&launched)) {
        CHECK(cudaDeviceSynchronize());
        usleep(SLICE_US);
    }
    return unused;
}

int main(void)
{
    pthread_t beside;
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, 0);
    bool right = true;
    begin_capture(stream);
    CHECK(cudaLaunchHostFunc(stream, fill_source, source));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    for (unsigned turn = 0; turn < TURNS; turn++) {
        atomic_store(&launched, false);
        pthread_create(&beside, NULL, wait_for_device, NULL);
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, stream));
        atomic_store(&launched, true);
        pthread_join(beside, NULL);
        CHECK(cudaDeviceSynchronize());
        right = right && device_holds(to, SMALL, WANTED);
        fill(source, SMALL, 0);
    }
    return finish(right);
}
