// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A captured cudaMemsetAsync on registered heap memory.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *target = registered_block(SMALL, WANTED);
    begin_capture(stream);
    CHECK(cudaMemsetAsync(target, 0x5a, SMALL, stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    if (fixed) {
        replay(exec, stream);
        CHECK(cudaHostUnregister(target));
    }
    free(target);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    return finish(holds(owner, SMALL, FOREIGN));
}
