// expect: none
// options: device=1
// needs: sim
//
// A stream copies and signals, another one waits for the semaphore, and the program waits for that
// one alone. Then it knows what came before the signal: it fills and frees sources, looks at the
// target, and hands host and device memory on to a third stream.
#include "external.h"

int main(void)
{
    driver_start();
    const struct timeline timeline = imported_timeline();
    CUstream first = driver_new_stream(), waits = driver_new_stream(), third = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0), to = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED), *between = driver_pinned_block(SMALL, 0);
    void *target = driver_pinned_block(SMALL, 0), *gone = driver_registered_block(SMALL, FOREIGN);

    driver_busy(first);
    CHECK(cuMemcpyHtoDAsync(device, gone, SMALL, first));
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, first));
    CHECK(cuMemcpyDtoHAsync(between, device, SMALL, first));
    stream_signals(&timeline, 1, first);
    stream_waits(&timeline, 1, waits);
    CHECK(cuStreamSynchronize(waits));
    fill(source, SMALL, FOREIGN);
    bool right = holds(between, SMALL, WANTED);
    CHECK(cuMemcpyHtoDAsync(to, between, SMALL, third));
    CHECK(cuMemcpyDtoHAsync(target, device, SMALL, third));
    CHECK(cuMemHostUnregister(gone));
    free(gone);

    CHECK(cuCtxSynchronize());
    return finish(right && holds(target, SMALL, WANTED) && driver_device_holds(to, SMALL, WANTED));
}
