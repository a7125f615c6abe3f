// expect: SC102 action=stalled kind=registered certainty=observed
//
// docs/wild-bugs.md, row 35: the output buffer is registered memory of the program's, which grows
// by realloc while the logits of the last batch are on their way into it.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    unsigned char *logits = (unsigned char *)registered_block(SMALL, 0);
    void *behind = filled_block(SMALL, FOREIGN); /* the buffer cannot grow in place */

    busy(stream);
    CHECK(cudaMemcpyAsync(logits, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(logits));
    }
    logits = (unsigned char *)realloc(logits, 2 * SMALL);
    if (!logits)
        return 3;

    CHECK(cudaDeviceSynchronize());
    return finish(holds(logits, SMALL, WANTED) && holds(behind, SMALL, FOREIGN));
}
