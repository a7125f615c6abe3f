// expect: SC101 action=deferred kind=registered certainty=latent
// sim: late=0:delay=20us
//
// The source of a small copy in a green context is freed when the copy is complete, and nothing has
// told the program so. The primary context, and with it the green one, then waits for long work
// elsewhere, which says nothing of the copy.
#include "green.h"

#include <stdatomic.h>

enum { LONG_US = 400000 }; /* against a copy of 64 KB, also on a loaded machine */

static void wait_for_it(void *over)
{
    while (!atomic_load((atomic_int *)over))
        usleep(1000);
}

int main(void)
{
    atomic_int over = 0;
    driver_start();
    CUcontext context = NULL;
    CUstream stream = green_stream(green_context());
    CUstream other = driver_new_stream();
    CUevent late = driver_new_event();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    CHECK(cuCtxGetCurrent(&context));

    CHECK(cuLaunchHostFunc(other, wait_for_it, &over));
    CHECK(cuEventRecord(late, other));
    for (int i = 0; i < 4; i++)
        CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuCtxWaitEvent(context, late));
    sleep_patiently(LONG_US);
    atomic_store(&over, fixed);
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    atomic_store(&over, 1);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
