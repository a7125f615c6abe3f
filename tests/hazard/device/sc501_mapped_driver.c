// expect: SC501 action=ordered origin=cuMemMap direction=D2H event=cuMemcpyHtoD*
// options: device=1
//
// Two streams use mapped memory in no order: one is to read what the other overwrites.
#include "virtual.h"

int main(void)
{
    driver_start();
    CUstream first = driver_new_stream(), second = driver_new_stream();
    CUevent read = driver_new_event();
    CUdeviceptr address = reserved_addresses(GRANULE);
    void *source = driver_pinned_block(SMALL, FOREIGN);
    void *target = driver_pinned_block(SMALL, 0);

    map_memory(address, WANTED);
    driver_busy(first);
    CHECK(cuMemcpyDtoHAsync(target, address, SMALL, first));
    CHECK(cuEventRecord(read, first));
    if (fixed)
        CHECK(cuStreamWaitEvent(second, read, 0));
    CHECK(cuMemcpyHtoDAsync(address, source, SMALL, second));

    CHECK(cuCtxSynchronize());
    return finish(holds(target, SMALL, WANTED));
}
