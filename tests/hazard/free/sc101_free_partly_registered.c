// expect: SC101 action=deferred kind=registered certainty=observed
//
// Only one page inside the block is registered, so the block and the registered range share
// neither their start nor their size.
#include "twin.h"

enum { PAGE = 4096 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(PAGE, 0);
    unsigned char *block = (unsigned char *)filled_block(SMALL, 0);
    unsigned char *page = block + PAGE - (uintptr_t)block % PAGE + PAGE;
    fill(page, PAGE, WANTED);
    CHECK(cudaHostRegister(page, PAGE, cudaHostRegisterDefault));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, page, PAGE, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(page));
    }
    free(block);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, PAGE, WANTED) && holds(owner, SMALL, FOREIGN));
}
