// expect: SC104 action=stalled kind=registered certainty=observed event=mremap
//
// mremap(MREMAP_MAYMOVE) to twice the size, with no room behind: the mapping has to move while a
// copy still reads it.
#include "mapping.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    char *room = (char *)mapped_pages(NULL, 2 * SMALL, WANTED);
    if (mprotect(room + SMALL, SMALL, PROT_READ) != 0)
        return 3;
    CHECK(cudaHostRegister(room, SMALL, cudaHostRegisterDefault));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, room, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(room));
    }
    void *moved = mremap(room, SMALL, 2 * SMALL, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED || moved == room)
        return 3;

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(moved, SMALL, WANTED));
}
