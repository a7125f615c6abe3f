// expect: SC401 action=reported certainty=observed event=cuGraphLaunch
//
// A graph names registered memory, which is unregistered and registered again before the launch. A
// captured copy stays bound to the registration that has ended, so the launch takes the context
// with it (docs/driver.md, Q28).
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);
    replay(exec, stream);

    CHECK(cudaHostUnregister(source));
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterDefault));
    if (fixed) {
        CHECK(cudaGraphExecDestroy(exec));
        exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);
    }
    CHECK(cudaGraphLaunch(exec, stream));
    return finish(cudaStreamSynchronize(stream) == (fixed ? cudaSuccess : cudaErrorLaunchFailure));
}
