// expect: none
// sim: managed_apart=1
// needs: sim
//
// A device that does not share managed memory takes no prefetch and no advice that names it, and
// the program goes on without. Advice that names the host is taken, and so is an attachment.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr managed = 0, to = driver_device_block(SMALL, 0);
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST};
    size_t size = SMALL, first = 0;
    CHECK(cuMemAllocManaged(&managed, SMALL, CU_MEM_ATTACH_GLOBAL));
    fill((void *)managed, SMALL, WANTED);
    bool refused =
        cuMemPrefetchAsync_v2(managed, SMALL, here, 0, stream) == CUDA_ERROR_INVALID_DEVICE &&
        cuMemPrefetchBatchAsync(&managed, &size, 1, &here, &first, 1, 0, stream) ==
            CUDA_ERROR_INVALID_DEVICE &&
        cuMemAdvise_v2(managed, SMALL, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here) ==
            CUDA_ERROR_INVALID_DEVICE;
    CHECK(cuMemAdvise_v2(managed, SMALL, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    CHECK(cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_SINGLE));
    CHECK(cuMemcpyAsync(to, managed, SMALL, stream));
    CHECK(cuStreamSynchronize(stream));
    bool right = driver_device_holds(to, SMALL, WANTED);
    CHECK(cuMemFree(managed));
    return finish(refused && right);
}
