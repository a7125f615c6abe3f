// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A captured cudaMemcpy2DAsync from the device, into rows of registered heap memory.
#include "graphs.h"

enum { WIDTH = 300, PITCH = 1024, ROWS = 64 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(WIDTH * ROWS, WANTED);
    void *target = registered_block(PITCH * ROWS, 0);
    begin_capture(stream);
    CHECK(cudaMemcpy2DAsync(target, PITCH, device, WIDTH, WIDTH, ROWS, cudaMemcpyDeviceToHost,
                            stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    if (fixed) {
        replay(exec, stream);
        CHECK(cudaHostUnregister(target));
    }
    free(target);
    void *owner = filled_block(PITCH * ROWS, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    return finish(holds(owner, PITCH * ROWS, FOREIGN));
}
