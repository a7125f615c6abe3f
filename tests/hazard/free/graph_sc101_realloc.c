// expect: SC101 action=deferred certainty=observed
//
// realloc() moves the block while a launch waits to read its old place.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    void *fence = filled_block(SMALL, FOREIGN); /* the block cannot grow in place */
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    void *moved = realloc(source, SMALL + SMALL / 2);
    if (!moved)
        return 3;

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    bool right = device_holds(device, SMALL, WANTED) && holds(moved, SMALL, WANTED);
    return finish(right && holds(owner, SMALL, FOREIGN) && holds(fence, SMALL, FOREIGN));
}
