// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The graph reads from the middle of a block, whose start is what is freed.
#include "graphs.h"

int main(void)
{
    const size_t offset = 12345;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    char *block = (char *)filled_block(2 * SMALL, 0);
    fill(block + offset, SMALL, WANTED);
    cudaGraphExec_t exec =
        captured_exec(device, block + offset, SMALL, cudaMemcpyHostToDevice, stream);

    if (fixed)
        replay(exec, stream);
    free(block);
    void *owner = filled_block(2 * SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    return finish(device_holds(device, SMALL, WANTED) && holds(owner, 2 * SMALL, FOREIGN));
}
