// expect: SC204 action=ordered kind=pinned certainty=observed
//
// A memset on pinned memory and a copy out of it, on two streams with nothing between them.
#include "twin.h"

int main(void)
{
    cudaStream_t setter = new_stream();
    cudaStream_t up = new_stream();
    cudaEvent_t set = new_event();
    void *to = device_block(SMALL, 0);
    unsigned char *buffer = (unsigned char *)pinned_block(SMALL, FOREIGN);
    unsigned char *expected = (unsigned char *)malloc(SMALL);
    unsigned char *result = (unsigned char *)malloc(SMALL);
    if (!expected || !result)
        return 3;
    memset(expected, 0x5a, SMALL);

    busy(setter);
    CHECK(cudaMemsetAsync(buffer, 0x5a, SMALL, setter));
    CHECK(cudaEventRecord(set, setter));
    if (fixed)
        CHECK(cudaStreamWaitEvent(up, set, 0));
    CHECK(cudaMemcpyAsync(to, buffer, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(result, to, SMALL, cudaMemcpyDeviceToHost));
    return finish(memcmp(result, expected, SMALL) == 0);
}
