// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// new[] and delete[], of a registered array that a graph writes to.
#include "graphs.h"

int main()
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    unsigned char *target = new unsigned char[SMALL];
    CHECK(cudaHostRegister(target, SMALL, cudaHostRegisterDefault));
    cudaGraphExec_t exec = captured_exec(target, device, SMALL, cudaMemcpyDeviceToHost, stream);

    if (fixed) {
        replay(exec, stream);
        CHECK(cudaHostUnregister(target));
    }
    delete[] target;
    unsigned char *owner = new unsigned char[SMALL];
    fill(owner, SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    return finish(holds(owner, SMALL, FOREIGN));
}
