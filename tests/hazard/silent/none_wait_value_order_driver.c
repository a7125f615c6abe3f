// expect: none
// options: device=1
//
// Values order two streams, in host and in device memory: one stream writes the value behind its
// copies, the other one waits for it before its own. Then the program writes it, when it has waited
// for the first stream; the second stream's copies were issued before those that they come after.
#include "twin_driver.h"

static CUstream first, second;
static CUdeviceptr image, up, device, on_device;
static void *host, *source, *result;
static volatile uint32_t *word;

static void issue_first(void)
{
    CHECK(cuMemcpyDtoHAsync(host, image, SMALL, first));
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, first));
}

static void issue_second(uint32_t turn)
{
    CHECK(cuStreamWaitValue32(second, on_device, turn, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuMemcpyHtoDAsync(up, host, SMALL, second));
    CHECK(cuMemcpyDtoHAsync(result, device, SMALL, second));
}

static bool end_turn(void)
{
    CHECK(cuStreamSynchronize(second));
    bool right = driver_device_holds(up, SMALL, WANTED) && holds(result, SMALL, WANTED);
    fill(host, SMALL, FOREIGN);
    CHECK(cuMemsetD8(device, 0, SMALL));
    CHECK(cuCtxSynchronize());
    return right;
}

int main(void)
{
    void *memory = NULL;
    driver_start();
    first = driver_new_stream();
    second = driver_new_stream();
    image = driver_device_block(SMALL, WANTED);
    up = driver_device_block(SMALL, 0);
    device = driver_device_block(SMALL, FOREIGN);
    host = driver_pinned_block(SMALL, FOREIGN);
    source = driver_pinned_block(SMALL, WANTED);
    result = driver_pinned_block(SMALL, 0);
    CHECK(cuMemHostAlloc(&memory, sizeof(uint32_t), CU_MEMHOSTALLOC_DEVICEMAP));
    CHECK(cuMemHostGetDevicePointer(&on_device, memory, 0));
    word = (volatile uint32_t *)memory;
    *word = 0;

    driver_busy(first);
    issue_first();
    CHECK(cuStreamWriteValue32(first, on_device, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
    issue_second(1);
    bool right = end_turn();

    issue_second(2);
    issue_first();
    CHECK(cuStreamSynchronize(first));
    *word = 2;
    return finish(end_turn() && right);
}
