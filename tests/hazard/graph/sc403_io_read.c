// expect: SC403 action=stalled certainty=observed
//
// The next input is read from a file while the launch is in flight.
#include "files.h"

#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    int fd = filled_file(SMALL, FOREIGN);
    cudaGraphExec_t exec = captured_exec(device, input, SMALL, cudaMemcpyHostToDevice, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    ALL(read(fd, input, SMALL), SMALL);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
