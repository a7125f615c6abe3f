// expect: SC101 action=deferred kind=registered certainty=observed
//
// Established by a host function behind the copy, whose flag the program waits for. In the racy
// build the host function stands before the copy.
#include "flag.h"
#include "twin.h"

int main(void)
{
    atomic_int flag = 0;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    if (!fixed)
        CHECK(cudaLaunchHostFunc(stream, raise_flag, &flag));
    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaLaunchHostFunc(stream, raise_flag, &flag));
    while (atomic_load(&flag) == 0)
        usleep(500);
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
