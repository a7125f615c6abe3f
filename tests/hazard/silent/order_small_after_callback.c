// expect: none
//
// A small source is refilled by a host function behind its copy: in order, and different from what
// was sent by the time that anybody synchronises.
#include "touch.h"

enum { PARAMETERS = 1024 };

static void refill(void *source)
{
    fill(source, PARAMETERS, FOREIGN);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(PARAMETERS, 0);
    void *source = pinned_block(PARAMETERS, WANTED);

    CHECK(cudaMemcpyAsync(device, source, PARAMETERS, cudaMemcpyHostToDevice, stream));
    CHECK(cudaLaunchHostFunc(stream, refill, source));
    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, PARAMETERS, WANTED) && holds(source, PARAMETERS, FOREIGN));
}
