// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The captured source grows, and moves as it does. The graph still names its old place.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);
    void *fence = filled_block(SMALL, FOREIGN); /* the block cannot grow in place */
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);

    if (fixed)
        replay(exec, stream);
    void *moved = realloc(source, SMALL + SMALL / 2);
    if (!moved)
        return 3;
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    bool right = device_holds(device, SMALL, WANTED) && holds(moved, SMALL, WANTED);
    return finish(right && holds(owner, SMALL, FOREIGN) && holds(fence, SMALL, FOREIGN));
}
