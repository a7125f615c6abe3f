// expect: SC203 action=stalled kind=pinned certainty=observed event=cuMemcpyDtoH_v2
//
// A synchronous copy from the device does not wait for one that was issued earlier in a stream of
// its own, but the default stream has so much to do that it comes behind it, by luck.
#include "twin.h"

static TWIN_HELPER void sleep_longer_in_stream(void *unused)
{
    (void)unused;
    sleep_patiently(3 * BUSY_US);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *first = device_block(SMALL, FOREIGN);
    void *second = device_block(SMALL, WANTED);
    void *result = pinned_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(result, first, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(NULL, sleep_longer_in_stream, NULL));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(result, second, SMALL, cudaMemcpyDeviceToHost));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(result, SMALL, WANTED));
}
