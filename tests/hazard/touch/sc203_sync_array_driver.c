// expect: SC203 action=stalled kind=pinned certainty=observed event=cuMemcpyAtoH_v2
// expect: SC203 action=stalled kind=pinned event=cuMemcpyAtoD_v2
//
// Synchronous copies from an array into what another stream is still to write, by a host and by a
// unified address.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUDA_ARRAY_DESCRIPTOR shape = {SMALL / 8, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    CUarray array = NULL;
    CHECK(cuArrayCreate(&array, &shape));
    CUstream stream = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, FOREIGN);
    char *result = (char *)driver_pinned_block(SMALL, 0);
    void *image = filled_block(SMALL / 2, WANTED);
    CHECK(cuMemcpyHtoA(array, 0, image, SMALL / 2));
    CHECK(cuCtxSynchronize());

    driver_busy(stream);
    CHECK(cuMemcpyDtoHAsync(result, from, SMALL / 2, stream));
    driver_busy(stream);
    CHECK(cuMemcpyDtoHAsync(result + SMALL / 2, from, SMALL / 2, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyAtoH(result, array, 0, SMALL / 2));
    CHECK(cuMemcpyAtoD((CUdeviceptr)(uintptr_t)result + SMALL / 2, array, 0, SMALL / 2));

    CHECK(cuCtxSynchronize());
    return finish(holds(result, SMALL / 2, WANTED) && holds(result + SMALL / 2, SMALL / 2, WANTED));
}
