// expect: none
// needs: kernel (kind of a touch)
//
// A source and a destination lie on one page, and the source is read while both are in flight.
#include "touch.h"

enum { HALF = 2048 };

int main(void)
{
    struct gate gate = {0};
    cudaStream_t stream = new_stream();
    void *to = device_block(HALF, 0);
    void *from = device_block(HALF, FOREIGN);
    char *page = (char *)pinned_block(2 * HALF, 0);
    fill(page, HALF, WANTED);

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(to, page, HALF, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(page + HALF, from, HALF, cudaMemcpyDeviceToHost, stream));
    bool right = holds(page, HALF, WANTED);
    open_gate(&gate);

    CHECK(cudaStreamSynchronize(stream));
    right = right && !gate.gave_up && holds(page + HALF, HALF, FOREIGN);
    return finish(right && device_holds(to, HALF, WANTED));
}
