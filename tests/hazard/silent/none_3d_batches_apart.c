// expect: none
//
// Batches of 3D copies on two unordered streams: from buffers of their own, and from the left and
// the right half of the rows of one.
#include "twin_driver.h"

enum { ROW = 512, HALF = ROW / 2, ROWS = 64 };

static void copy_half(CUdeviceptr device, const void *rows, int half, CUstream stream)
{
    CUDA_MEMCPY3D_BATCH_OP copy;
    memset(&copy, 0, sizeof copy);
    copy.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.src.op.ptr.ptr = device;
    copy.src.op.ptr.locHint.type = CU_MEM_LOCATION_TYPE_DEVICE;
    copy.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.dst.op.ptr.ptr = (CUdeviceptr)(uintptr_t)rows + (size_t)half * HALF;
    copy.dst.op.ptr.rowLength = ROW;
    copy.dst.op.ptr.layerHeight = ROWS;
    copy.dst.op.ptr.locHint.type = CU_MEM_LOCATION_TYPE_HOST;
    copy.extent.width = HALF;
    copy.extent.height = ROWS;
    copy.extent.depth = 1;
    copy.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    CHECK(cuMemcpy3DBatchAsync(1, &copy, 0, stream));
}

static void copy_whole(CUdeviceptr device, const void *source, CUstream stream)
{
    CUDA_MEMCPY3D_BATCH_OP copy;
    memset(&copy, 0, sizeof copy);
    copy.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.src.op.ptr.ptr = (CUdeviceptr)(uintptr_t)source;
    copy.src.op.ptr.locHint.type = CU_MEM_LOCATION_TYPE_HOST;
    copy.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.dst.op.ptr.ptr = device;
    copy.dst.op.ptr.locHint.type = CU_MEM_LOCATION_TYPE_DEVICE;
    copy.extent.width = SMALL;
    copy.extent.height = 1;
    copy.extent.depth = 1;
    copy.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    CHECK(cuMemcpy3DBatchAsync(1, &copy, 0, stream));
}

int main(void)
{
    driver_start();
    CUstream first = driver_new_stream();
    CUstream second = driver_new_stream();
    CUdeviceptr one = driver_device_block(SMALL, 0);
    CUdeviceptr two = driver_device_block(SMALL, 0);
    void *left = driver_pinned_block(SMALL, WANTED);
    void *right = driver_pinned_block(SMALL, FOREIGN);
    void *rows = driver_pinned_block(ROW * ROWS, 0);

    driver_busy(first);
    copy_whole(one, left, first);
    copy_whole(two, right, second);
    copy_half(one, rows, 0, first);
    copy_half(two, rows, 1, second);
    CHECK(cuStreamSynchronize(first));
    CHECK(cuStreamSynchronize(second));

    bool good = driver_device_holds(one, SMALL, WANTED) && driver_device_holds(two, SMALL, FOREIGN);
    good = good && holds(rows, HALF, WANTED) && holds((char *)rows + HALF, HALF, FOREIGN);
    CHECK(cuMemFreeHost(left));
    CHECK(cuMemFreeHost(right));
    CHECK(cuMemFreeHost(rows));
    return finish(good);
}
