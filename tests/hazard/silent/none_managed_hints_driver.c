// expect: none
//
// Prefetches, of a batch too, advice and an attachment change no byte: the host writes the memory
// while they wait behind other work, and frees it, which waits for the device.
#include "twin_driver.h"

enum { BLOCKS = 4 };

static CUdeviceptr blocks[BLOCKS];
static const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE};

static void hint(CUstream stream)
{
    size_t sizes[] = {SMALL, SMALL}, first = 0;
    CUmemLocation place = here;
    CHECK(cuMemPrefetchAsync_v2(blocks[0], SMALL, here, 0, stream));
    CHECK(cuMemPrefetchBatchAsync(blocks + 1, sizes, 2, &place, &first, 1, 0, stream));
    CHECK(cuMemAdvise_v2(blocks[2], SMALL, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    CHECK(cuMemAdvise_v2(blocks[2], SMALL, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    CHECK(cuStreamAttachMemAsync(stream, blocks[3], 0, CU_MEM_ATTACH_SINGLE));
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    bool right = true;
    for (int i = 0; i < BLOCKS; i++)
        CHECK(cuMemAllocManaged(&blocks[i], SMALL, CU_MEM_ATTACH_GLOBAL));
    driver_busy(stream);
    hint(stream);
    for (int i = 0; i < BLOCKS; i++) {
        fill((void *)blocks[i], SMALL, WANTED);
        right = right && holds((void *)blocks[i], SMALL, WANTED);
    }
    driver_busy(stream);
    hint(stream);
    for (int i = 0; i < BLOCKS; i++)
        CHECK(cuMemFree(blocks[i]));
    return finish(right);
}
