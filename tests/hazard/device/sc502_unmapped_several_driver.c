// expect: SC502 action=stalled origin=cuMemMap direction=D2H event=cuMemUnmap
// options: device=1
//
// One call unmaps two mappings, and a copy is still to read the second one.
#include "virtual.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr address = reserved_addresses(2 * GRANULE);
    void *target = driver_pinned_block(SMALL, 0);

    map_memory(address, FOREIGN);
    map_memory(address + GRANULE, WANTED);
    driver_busy(stream);
    CHECK(cuMemcpyDtoHAsync(target, address + GRANULE, SMALL, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemUnmap(address, 2 * GRANULE));
    map_memory(address + GRANULE, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(holds(target, SMALL, WANTED));
}
