// expect: none
// in-place: SC201 action=reported kind=pageable certainty=latent
// in-place: wrong
//
// Pageable memory is staged in the call or complete when it returns, and may be touched at once.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0);
    void *from = device_block(SMALL, WANTED);
    void *source = filled_block(SMALL, WANTED);
    void *target = filled_block(SMALL, 0);

    CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, stream));
    fill(source, SMALL, FOREIGN);
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, stream));
    bool right = holds(target, SMALL, WANTED);
    fill(target, SMALL, FOREIGN);

    CHECK(cudaStreamSynchronize(stream));
    return finish(right && holds(target, SMALL, FOREIGN) && device_holds(to, SMALL, WANTED));
}
