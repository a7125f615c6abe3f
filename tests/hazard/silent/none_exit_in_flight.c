// expect: none
//
// The program returns from main with a copy in flight and its buffers still allocated: untidy, but
// nothing was freed under the copy.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    void *pinned = pinned_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(pinned, device, SMALL, cudaMemcpyDeviceToHost, stream));
    return finish(true);
}
