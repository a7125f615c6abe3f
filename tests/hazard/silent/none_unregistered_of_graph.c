// expect: none
// in-place: SC103 action=stalled
// in-place: wrong
//
// Memory that an exec names is unregistered, and the exec is never launched again. From then on the
// memory is pageable: a copy out of it has read it when the call returns, and so has a launch of
// another graph, which also waits until it is written. That graph may be launched after the memory
// was registered once more for a time.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0), *other = device_block(SMALL, FOREIGN);
    void *memory = registered_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, memory, SMALL, cudaMemcpyHostToDevice, stream);
    replay(exec, stream);
    CHECK(cudaHostUnregister(memory));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, memory, SMALL, cudaMemcpyDefault, stream));
    fill(memory, SMALL, FOREIGN);
    CHECK(cudaStreamSynchronize(stream));
    bool good = device_holds(device, SMALL, WANTED);

    fill(memory, SMALL, WANTED);
    cudaGraphExec_t up = captured_exec(device, memory, SMALL, cudaMemcpyDefault, stream);
    CHECK(cudaMemset(device, 0, SMALL));
    CHECK(cudaDeviceSynchronize());
    busy(stream);
    CHECK(cudaGraphLaunch(up, stream));
    fill(memory, SMALL, 0);
    CHECK(cudaStreamSynchronize(stream));
    good = device_holds(device, SMALL, WANTED) && good;

    cudaGraphExec_t down = captured_exec(memory, other, SMALL, cudaMemcpyDefault, stream);
    busy(stream);
    CHECK(cudaGraphLaunch(down, stream));
    good = holds(memory, SMALL, FOREIGN) && good;

    CHECK(cudaHostRegister(memory, SMALL, 0));
    CHECK(cudaHostUnregister(memory));
    fill(memory, SMALL, WANTED);
    replay(up, stream);
    fill(memory, SMALL, 0);
    good = device_holds(device, SMALL, WANTED) && good;

    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphExecDestroy(up));
    CHECK(cudaGraphExecDestroy(down));
    return finish(good);
}
