// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The source is memory that the program mapped itself and unmaps before the launch. What it maps
// next lies at the same place.
#include "mapping.h"

#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = mapped_pages(NULL, SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);

    if (fixed)
        replay(exec, stream);
    CHECK(munmap(source, SMALL));
    void *owner = mapped_pages(NULL, SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    CHECK(cudaGraphExecDestroy(exec));
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
