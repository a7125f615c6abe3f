// expect: none
//
// Managed memory is discarded behind a small copy out of it, on the copy's stream: what is found
// there in the end is not what the program has written. A prefetch beside it changes nothing.
#include "twin_driver.h"

enum { PART = 4096 };

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr to = driver_device_block(PART, 0), managed = 0;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    size_t size = PART, first = 0;
    CHECK(cuMemAllocManaged(&managed, PART, CU_MEM_ATTACH_GLOBAL));
    fill((void *)managed, PART, WANTED);

    CHECK(cuMemPrefetchBatchAsync(&managed, &size, 1, &here, &first, 1, 0, stream));
    CHECK(cuMemcpyHtoDAsync(to, (void *)managed, PART, stream));
    CHECK(cuMemDiscardBatchAsync(&managed, &size, 1, 0, stream));
    CHECK(cuStreamSynchronize(stream));
    bool right = driver_device_holds(to, PART, WANTED);

    fill((void *)managed, PART, WANTED);
    CHECK(cuMemcpyAsync(to, managed, PART, stream));
    CHECK(cuMemDiscardAndPrefetchBatchAsync(&managed, &size, 1, &here, &first, 1, 0, stream));
    CHECK(cuStreamSynchronize(stream));
    return finish(right && driver_device_holds(to, PART, WANTED));
}
