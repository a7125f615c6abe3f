// expect: none
//
// A memset of pinned memory and a small copy out of it behind that.
#include "touch.h"

enum { PARAMETERS = 1024 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(PARAMETERS, 0);
    void *between = pinned_block(PARAMETERS, FOREIGN);
    unsigned char wanted[PARAMETERS], got[PARAMETERS];
    memset(wanted, 0x5a, PARAMETERS);

    CHECK(cudaMemsetAsync(between, 0x5a, PARAMETERS, stream));
    CHECK(cudaMemcpyAsync(to, between, PARAMETERS, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(got, to, PARAMETERS, cudaMemcpyDeviceToHost));
    return finish(memcmp(wanted, got, PARAMETERS) == 0);
}
