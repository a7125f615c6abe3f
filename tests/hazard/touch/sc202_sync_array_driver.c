// expect: SC202 action=stalled kind=pinned certainty=observed event=cuMemcpyHtoA_v2
//
// A synchronous copy to an array.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUDA_ARRAY_DESCRIPTOR shape = {SMALL / 4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    CUarray array = NULL;
    CHECK(cuArrayCreate(&array, &shape));
    CUstream stream = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    void *between = driver_pinned_block(SMALL, FOREIGN);
    void *back = filled_block(SMALL, 0);

    driver_busy(stream);
    CHECK(cuMemcpyDtoHAsync(between, from, SMALL, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyHtoA(array, 0, between, SMALL));

    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyAtoH(back, array, 0, SMALL));
    return finish(holds(back, SMALL, WANTED));
}
