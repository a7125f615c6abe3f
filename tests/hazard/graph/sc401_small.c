// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A pageable block of a few bytes, of which the heap has many.
#include "graphs.h"

enum { BYTES = 200 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    void *source = filled_block(BYTES, WANTED);
    cudaGraphExec_t exec = captured_exec(device, source, BYTES, cudaMemcpyHostToDevice, stream);

    if (fixed)
        replay(exec, stream);
    free(source);
    void *owner = filled_block(BYTES, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    return finish(device_holds(device, BYTES, WANTED) && holds(owner, BYTES, FOREIGN));
}
