// expect: SC302 action=rerouted certainty=observed event=cu[CM]*
//
// While a stream captures, a limit is set, a mipmapped array made and ended, and a pool given a
// threshold and destroyed. No capture permits any of these calls.
#include "capture.h"

static void prepare(CUmemoryPool pool)
{
    CUDA_ARRAY3D_DESCRIPTOR image;
    CUmipmappedArray array = NULL;
    cuuint64_t threshold_bytes = 0;
    memset(&image, 0, sizeof image);
    image.Width = image.Height = 64;
    image.Format = CU_AD_FORMAT_FLOAT;
    image.NumChannels = 1;
    TRY(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
    TRY(cuMipmappedArrayCreate(&array, &image, 3));
    TRY(cuMipmappedArrayDestroy(array));
    TRY(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold_bytes));
    TRY(cuMemPoolDestroy(pool));
}

static CUmemoryPool new_pool(void)
{
    CUmemPoolProps properties;
    CUmemoryPool pool = NULL;
    memset(&properties, 0, sizeof properties);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CHECK(cuMemPoolCreate(&pool, &properties));
    return pool;
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUmemoryPool pool = new_pool();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);

    if (fixed)
        prepare(pool);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (!fixed)
        prepare(pool);
    TRY(cuMemcpyDtoDAsync(to, from, SMALL, stream));

    driver_replay(driver_end_capture(stream, 1), stream);
    return finish(!broken && driver_device_holds(to, SMALL, WANTED));
}
