// expect: SC502 action=stalled origin=cuMemMap direction=D2H event=cuMemUnmap
// options: device=1
//
// Addresses are unmapped, and others' memory is mapped there, while a copy is still to read them:
// cuMemUnmap waits for nothing. The copy reads the next owner's bytes.
#include "virtual.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr address = reserved_addresses(GRANULE);
    void *target = driver_pinned_block(SMALL, 0);

    map_memory(address, WANTED);
    driver_busy(stream);
    CHECK(cuMemcpyDtoHAsync(target, address, SMALL, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemUnmap(address, GRANULE));
    map_memory(address, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(holds(target, SMALL, WANTED));
}
