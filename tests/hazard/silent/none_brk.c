// expect: none
//
// The break is moved above what is in flight on it, and asked for where the kernel refuses, which
// programs do to learn where it is. None of the calls waits.
#include "break.h"

#include "touch.h"

int main(void)
{
    struct gate gate = {false, false};
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    uintptr_t bottom = raise_break(4 * SMALL);
    void *source = (void *)((bottom + SMALL - 1) & ~(SMALL - 1));
    fill(source, SMALL, WANTED);
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterDefault));

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    brk(NULL);
    brk((void *)4096);
    sbrk(4096 - (intptr_t)bottom);
    bool right = (uintptr_t)sbrk(0) == bottom + 4 * SMALL;
    sbrk(-(intptr_t)SMALL);
    right = right && (uintptr_t)sbrk((intptr_t)SMALL) == bottom + 3 * SMALL;
    open_gate(&gate);
    CHECK(cudaStreamSynchronize(stream));
    return finish(right && !gate.gave_up && device_holds(device, SMALL, WANTED));
}
