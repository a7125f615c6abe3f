// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// realloc() to no bytes at all is how the captured source is freed, and the next owner of its place
// fills that before the graph is launched.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);
    void *fence =
        filled_block(SMALL, FOREIGN); /* the block stays apart from the rest of the heap */
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);

    if (fixed)
        replay(exec, stream);
    if (realloc(source, 0))
        return 3;
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    bool right = device_holds(device, SMALL, WANTED);
    return finish(right && holds(owner, SMALL, FOREIGN) && holds(fence, SMALL, FOREIGN));
}
