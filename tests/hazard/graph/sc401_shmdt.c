// expect: SC401 action=reported certainty=observed event=cuGraphLaunch
// needs: kernel (mremap)
//
// A graph names a registered segment that is detached before the launch. shmdt is not put off for
// that: the device has the pages.
#include "segment.h"

#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    int segment = new_segment(SMALL);
    void *source = registered_segment(segment, SMALL, WANTED);
    forget_segment(segment);
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);

    if (fixed)
        replay(exec, stream);
    CHECK(shmdt(source));
    if (!fixed)
        replay(exec, stream);

    CHECK(cudaGraphExecDestroy(exec));
    return finish(device_holds(device, SMALL, WANTED));
}
