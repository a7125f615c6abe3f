// expect: SC305 advisory=True kind=device certainty=latent event=cuLaunchKernel direction=D2H
//
// A kernel on the legacy stream, within a capture of other memory, is meant for each launch. The
// program clears what it has written, launches the graph twice, and downloads zeros.
#include "unused.h"

int main(void)
{
    void *memory = device_block(SMALL, FOREIGN);
    void *terms = device_block(SMALL, WANTED);
    CUfunction kernel = copying_kernel();
    struct unused unused = unused_begin();

    launch_copy(kernel, (CUdeviceptr)memory, (CUdeviceptr)terms, fixed ? unused.stream : NULL);
    unused_end(&unused, fixed);
    unused_clear(memory);
    replay(unused.exec, unused.stream);
    replay(unused.exec, unused.stream);
    return finish(!broken && device_holds(memory, SMALL, WANTED) == fixed);
}
