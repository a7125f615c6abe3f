// expect: SC203 action=stalled kind=registered certainty=observed
//
// A result that nobody wants any more is cleared by libc while it still arrives.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, WANTED);
    unsigned char *target = (unsigned char *)registered_page_block(LARGE, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, LARGE, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    memset(target, 0, LARGE);

    CHECK(cudaDeviceSynchronize());
    bool right = true;
    for (size_t i = 0; i < LARGE; i++)
        right = right && target[i] == 0;
    return finish(right);
}
