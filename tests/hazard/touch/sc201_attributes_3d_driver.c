// expect: SC201 kind=pinned
// sim: driver=13020
// needs: sim
//
// A box with attributes, which CUDA 13.2 has beside the batches, refilled too early.
#include "newer.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED);

    CUDA_MEMCPY3D_BATCH_OP copy;
    memset(&copy, 0, sizeof copy);
    copy.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.src.op.ptr.ptr = (CUdeviceptr)(uintptr_t)source;
    copy.src.op.ptr.locHint.type = CU_MEM_LOCATION_TYPE_HOST;
    copy.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.dst.op.ptr.ptr = device;
    copy.dst.op.ptr.locHint.type = CU_MEM_LOCATION_TYPE_DEVICE;
    copy.extent.width = 256;
    copy.extent.height = SMALL / 256;
    copy.extent.depth = 1;
    copy.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;

    driver_busy(stream);
    CHECK(NEWER(cuMemcpy3DWithAttributesAsync, 13020)(&copy, 0, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(source, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(source, SMALL, FOREIGN));
}
