// expect: SC104 action=stalled kind=registered certainty=observed event=madvise
// needs: kernel (madvise)
//
// MADV_REMOVE punches a hole into the shared memory that a copy waits to read.
#include "mapping.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = mmap(NULL, SMALL, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (source == MAP_FAILED)
        return 3;
    fill(source, SMALL, WANTED);
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterDefault));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    CHECK(madvise(source, SMALL, MADV_REMOVE));

    bool right = *(volatile unsigned char *)source == 0;
    CHECK(cudaDeviceSynchronize());
    return finish(right && device_holds(device, SMALL, WANTED));
}
