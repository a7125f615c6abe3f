// expect: none
// in-place: SC201 action=stalled kind=pinned
// in-place: wrong
//
// A copy out of more than 1 MB of pageable memory waits for its stream before it reads the source:
// the upload before it is done when the call returns.
#include "managed.h"

enum { HUGE_BYTES = 4 << 20 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *sent = pinned_block(SMALL, WANTED), *device = device_block(SMALL, 0);
    void *source = filled_block(HUGE_BYTES, WANTED);
    void *const targets[] = {device_block(HUGE_BYTES, 0), managed_block(HUGE_BYTES, 0)};
    bool right = true;

    for (int i = 0; i < 2; i++) {
        fill(sent, SMALL, WANTED);
        fill(source, HUGE_BYTES, WANTED);
        busy(stream);
        CHECK(cudaMemcpyAsync(device, sent, SMALL, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(targets[i], source, HUGE_BYTES, cudaMemcpyDefault, stream));
        fill(sent, SMALL, FOREIGN);
        fill(source, HUGE_BYTES, FOREIGN);
        CHECK(cudaStreamSynchronize(stream));
        right = right && device_holds(device, SMALL, WANTED);
        right = right && device_holds(targets[i], HUGE_BYTES, WANTED);
    }
    return finish(right);
}
