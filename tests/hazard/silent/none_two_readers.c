// expect: none
//
// Two unordered copies that only read one buffer, and two that write different halves of one: no
// hazard in either.
#include "twin.h"

int main(void)
{
    const size_t half = SMALL / 2;
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    void *one = device_block(SMALL, 0);
    void *two = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    unsigned char *target = (unsigned char *)pinned_block(SMALL, 0);

    busy(first);
    CHECK(cudaMemcpyAsync(one, source, SMALL, cudaMemcpyHostToDevice, first));
    CHECK(cudaMemcpyAsync(two, source, SMALL, cudaMemcpyHostToDevice, second));
    CHECK(cudaMemcpyAsync(target, one, half, cudaMemcpyDeviceToHost, first));
    CHECK(cudaMemcpyAsync(target + half, two, half, cudaMemcpyDeviceToHost, second));
    CHECK(cudaStreamSynchronize(first));
    CHECK(cudaStreamSynchronize(second));

    bool right = holds(target, half, WANTED) && holds(target + half, half, WANTED);
    right = right && device_holds(two, SMALL, WANTED);
    CHECK(cudaFreeHost(source));
    CHECK(cudaFreeHost(target));
    return finish(right);
}
