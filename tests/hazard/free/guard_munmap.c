// expect: SC104 kind=registered certainty=observed
//
// Guarded pages are unmapped, and others mapped and used.
#include "mapping.h"

#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *source = registered_pages(LARGE, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    if (munmap(source, LARGE) != 0)
        return 3;
    void *others = mapped_pages(NULL, LARGE, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(others, LARGE, FOREIGN) && device_holds(device, LARGE, WANTED));
}
