// expect: SC104 action=stalled kind=registered certainty=observed
//
// mmap(MAP_FIXED) puts new pages where a copy still reads. The program asks for that very address,
// so the call waits for the copy.
#include "mapping.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_pages(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    void *owner = mapped_pages(source, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    bool right = owner == source && device_holds(device, SMALL, WANTED);
    return finish(right && holds(owner, SMALL, FOREIGN));
}
