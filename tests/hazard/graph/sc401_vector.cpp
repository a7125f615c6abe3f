// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A function captures a copy out of its std::vector and returns the graph: without the vector.
#include "graphs.h"

#include <vector>

static cudaGraphExec_t record(void *device, cudaStream_t stream)
{
    std::vector<unsigned char> staging(SMALL);
    fill(staging.data(), staging.size(), WANTED);
    cudaGraphExec_t exec =
        captured_exec(device, staging.data(), staging.size(), cudaMemcpyHostToDevice, stream);
    if (fixed)
        replay(exec, stream);
    return exec;
}

int main()
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    cudaGraphExec_t exec = record(device, stream);

    std::vector<unsigned char> owner(SMALL, 0xee);
    if (!fixed)
        replay(exec, stream);
    return finish(device_holds(device, SMALL, WANTED) && owner.front() == 0xee);
}
