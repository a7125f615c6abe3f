// expect: none
// needs: sim
//
// A stream signals an external semaphore behind its copies. The program hears of them from the
// other party alone, and uses, fills and frees their memory.
#include "external.h"

int main(void)
{
    driver_start();
    const struct timeline timeline = imported_timeline();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0), from = driver_device_block(SMALL, WANTED);
    CUdeviceptr small = driver_device_block(64, 0);
    void *source = driver_pinned_block(SMALL, WANTED), *target = driver_pinned_block(SMALL, 0);
    void *gone = driver_registered_block(SMALL, WANTED);
    unsigned char *bytes = driver_pinned_block(64, WANTED);

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuMemcpyHtoDAsync(device, gone, SMALL, stream));
    CHECK(cuMemcpyHtoDAsync(small, bytes, 64, stream));
    CHECK(cuMemcpyDtoHAsync(target, from, SMALL, stream));
    stream_signals(&timeline, 1, stream);
    party_waits(&timeline, 1);
    fill(source, SMALL, FOREIGN);
    fill(bytes, 64, FOREIGN);
    bool right = holds(target, SMALL, WANTED);
    CHECK(cuMemHostUnregister(gone));
    free(gone);

    CHECK(cuCtxSynchronize());
    return finish(right && driver_device_holds(device, SMALL, WANTED) &&
                  driver_device_holds(small, 64, WANTED));
}
