// expect: SC101 action=deferred certainty=observed
//
// Established by a host function behind the launch, whose flag the program waits for. In the racy
// build it stands before the launch.
#include "flag.h"
#include "graphs.h"

int main(void)
{
    atomic_int flag = 0;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);

    if (!fixed)
        CHECK(cudaLaunchHostFunc(stream, raise_flag, &flag));
    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaLaunchHostFunc(stream, raise_flag, &flag));
    while (atomic_load(&flag) == 0)
        usleep(500);
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
