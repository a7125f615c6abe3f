// expect: SC101 action=deferred kind=registered certainty=observed
// sim: driver=13010
// needs: sim
//
// A host function that says how its thread waits (CUDA 13.1) tells of the copy before it like any
// other. In the racy build it stands before the copy.
#include "flag.h"
#include "newer.h"

int main(void)
{
    driver_start();
    atomic_int flag = 0;
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    PFN_cuLaunchHostFunc_v13010 launch = NEWER(cuLaunchHostFunc, 13010);

    if (!fixed)
        CHECK(launch(stream, raise_flag, &flag, 1));
    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    if (fixed)
        CHECK(launch(stream, raise_flag, &flag, 1));
    while (atomic_load(&flag) == 0)
        usleep(500);
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
