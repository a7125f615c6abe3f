// expect: SC104 action=stalled kind=registered certainty=observed event=brk
// needs: kernel (brk)
//
// The same by brk(). The new break lies within a page that the copy reads, which stays.
#include "break.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    uintptr_t bottom = raise_break(2 * SMALL);
    char *source = (char *)((bottom + SMALL - 1) & ~(SMALL - 1));
    fill(source, SMALL, WANTED);
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterDefault));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    if ((uintptr_t)sbrk(0) != bottom + 2 * SMALL) /* malloc has come in between */
        return 3;
    CHECK(brk(source + 100));

    bool right = sbrk(0) == (void *)(source + 100) && holds(source, 4096, WANTED);
    CHECK(cudaDeviceSynchronize());
    return finish(right && device_holds(device, SMALL, WANTED));
}
