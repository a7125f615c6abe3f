// expect: SC201 action=snapshotted kind=pageable
// in-place: none
// in-place: wrong
// sim: late_batch=1
//
// A small pageable source of a batch behind a kernel is refilled: a kernel may write pinned memory,
// and pageable memory only where the device reads that in place.
#include "twin_driver.h"

enum { BYTES = 5000 };

static void launch(CUstream stream)
{
    static const char image[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                                ".visible .entry noop()\n{\n    ret;\n}\n";
    CUmodule module = NULL;
    CUfunction noop = NULL;
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuModuleGetFunction(&noop, module, "noop"));
    CHECK(cuLaunchKernel(noop, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(BYTES, 0);
    void *block = filled_block(BYTES, WANTED);
    CUdeviceptr source = (CUdeviceptr)(uintptr_t)block;
    CUmemcpyAttributes order = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    size_t size_bytes = BYTES;
    size_t first = 0;

    launch(stream);
    CHECK(cuMemcpyBatchAsync(&device, &source, &size_bytes, 1, &order, &first, 1, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(block, BYTES, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, BYTES, WANTED) && holds(block, BYTES, FOREIGN));
}
