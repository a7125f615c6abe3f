// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The source is freed straight after the copy, as is right for pageable memory: but not while the
// stream captures.
#include "graphs.h"

static void *next_owner(void *block)
{
    free(block);
    return filled_block(SMALL, FOREIGN);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);
    void *owner = NULL;

    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (!fixed)
        owner = next_owner(source);
    replay(instantiate_only(end_capture(stream)), stream);
    if (fixed)
        owner = next_owner(source);

    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
