// expect: SC201 action=stalled kind=registered certainty=observed
//
// The same by libc.
#include "touch.h"

static int by_value(const void *left, const void *right)
{
    return *(const unsigned char *)left - *(const unsigned char *)right;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    unsigned char *keys = (unsigned char *)registered_page_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, keys, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    qsort(keys, SMALL, 1, by_value);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && keys[0] <= keys[SMALL - 1]);
}
