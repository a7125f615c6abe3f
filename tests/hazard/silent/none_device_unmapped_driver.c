// expect: none
// options: device=1
//
// Addresses are unmapped behind a wait, and used again with other memory, in another stream. While
// a copy reads one mapping, the one beside it is unmapped, and what the driver refuses unmaps
// nothing.
#include "virtual.h"

int main(void)
{
    driver_start();
    CUstream first = driver_new_stream(), second = driver_new_stream();
    CUdeviceptr address = reserved_addresses(2 * GRANULE);
    void *target = driver_pinned_block(SMALL, 0), *again = driver_pinned_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, FOREIGN);

    map_memory(address, WANTED);
    map_memory(address + GRANULE, FOREIGN);
    driver_busy(first);
    CHECK(cuMemcpyDtoHAsync(target, address, SMALL, first));
    CHECK(cuMemUnmap(address + GRANULE, GRANULE));
    bool refused = cuMemUnmap(address, GRANULE / 2) != CUDA_SUCCESS;
    CHECK(cuStreamSynchronize(first));

    CHECK(cuMemcpyDtoHAsync(again, address, SMALL, first));
    CHECK(cuStreamSynchronize(first));
    CHECK(cuMemUnmap(address, GRANULE));
    map_memory(address, 0);
    CHECK(cuMemcpyHtoDAsync(address, source, SMALL, second));
    CHECK(cuStreamSynchronize(second));
    CHECK(cuMemUnmap(address, GRANULE));
    CHECK(cuMemAddressFree(address, 2 * GRANULE));
    return finish(refused && holds(target, SMALL, WANTED) && holds(again, SMALL, WANTED));
}
