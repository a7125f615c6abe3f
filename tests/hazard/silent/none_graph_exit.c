// expect: none
//
// The program returns from main with execs that name freed memory, and with a launch in flight that
// names none.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *freed = filled_block(SMALL, WANTED);
    void *kept = pinned_block(SMALL, WANTED);
    cudaGraphExec_t done = captured_exec(device, freed, SMALL, cudaMemcpyHostToDevice, stream);
    cudaGraphExec_t flies = captured_exec(device, kept, SMALL, cudaMemcpyHostToDevice, stream);

    replay(done, stream);
    free(freed);
    busy(stream);
    CHECK(cudaGraphLaunch(flies, stream));
    return finish(true);
}
