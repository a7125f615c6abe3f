// expect: SC104 action=stalled kind=registered certainty=observed event=sbrk
// needs: kernel (brk)
//
// The program has an allocator of its own on the break, and lowers that while a copy still reads
// what lies there.
#include "break.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    uintptr_t bottom = raise_break(2 * SMALL);
    void *source = (void *)((bottom + SMALL - 1) & ~(SMALL - 1));
    fill(source, SMALL, WANTED);
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterDefault));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    if ((uintptr_t)sbrk(0) != bottom + 2 * SMALL || /* malloc has come in between */
        (uintptr_t)sbrk(-(intptr_t)(2 * SMALL)) != bottom + 2 * SMALL)
        return 3;

    bool right = (uintptr_t)sbrk(0) == bottom;
    CHECK(cudaDeviceSynchronize());
    return finish(right && device_holds(device, SMALL, WANTED));
}
