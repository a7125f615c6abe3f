// expect: none
//
// A source in flight is read and compared, by the program and by libc. That does not wait either.
#include "touch.h"

int main(void)
{
    struct gate gate = {0};
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    void *copy = filled_block(SMALL, 0);

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    bool right = holds(source, SMALL, WANTED);
    memcpy(copy, source, SMALL);
    right = right && memcmp(copy, source, SMALL) == 0;
    open_gate(&gate);

    CHECK(cudaStreamSynchronize(stream));
    return finish(right && !gate.gave_up && device_holds(device, SMALL, WANTED));
}
