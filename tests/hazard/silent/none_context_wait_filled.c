// expect: none
// summary: taken_early=2
//
// A host function fills the source, the context waits for an event behind it, and a stream is
// synchronised, which says nothing of that. The copies that follow, on that stream and a
// synchronous one, come after the function, and the driver takes the old bytes.
#include "twin_driver.h"

enum { BYTES = 4096 };

static void fill_late(void *source)
{
    sleep_patiently(BUSY_US / 2);
    fill(source, BYTES, WANTED);
}

struct chain {
    CUcontext context;
    CUstream filling, copying;
    CUevent filled;
    CUdeviceptr device;
    void *source;
};

static void fill_for_context(const struct chain *chain)
{
    fill(chain->source, BYTES, FOREIGN);
    CHECK(cuLaunchHostFunc(chain->filling, fill_late, chain->source));
    CHECK(cuEventRecord(chain->filled, chain->filling));
    CHECK(cuCtxWaitEvent(chain->context, chain->filled));
}

static bool arrived(const struct chain *chain)
{
    return driver_device_holds(chain->device, BYTES, WANTED);
}

int main(void)
{
    driver_start();
    struct chain chain = {
        .filling = driver_new_stream(),
        .copying = driver_new_stream(),
        .filled = driver_new_event(),
        .device = driver_device_block(BYTES, 0),
        .source = driver_pinned_block(BYTES, FOREIGN),
    };
    CHECK(cuCtxGetCurrent(&chain.context));

    fill_for_context(&chain);
    CHECK(cuStreamSynchronize(chain.copying));
    CHECK(cuMemcpyHtoDAsync(chain.device, chain.source, BYTES, chain.copying));
    CHECK(cuStreamSynchronize(chain.copying));
    bool right = arrived(&chain);

    fill_for_context(&chain);
    CHECK(cuMemcpyHtoD(chain.device, chain.source, BYTES));
    CHECK(cuCtxSynchronize());
    return finish(arrived(&chain) && right);
}
