// expect: SC501 action=ordered kind=device direction=memset certainty=observed
// options: device=1
//
// A batch of memory operations only writes a word, and waits for nobody. What is set behind it is
// read in another stream in no order.
#include "signals.h"

int main(void)
{
    driver_start();
    CUevent set = driver_new_event();
    CUstream setter = driver_new_stream();
    CUstream reader = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    unsigned char *to = driver_pinned_block(SMALL, 0);
    volatile uint32_t *word = new_words();

    write_by_batch(word, 1, setter);
    driver_busy(setter);
    CHECK(cuMemsetD8Async(device, 5, SMALL, setter));
    CHECK(cuEventRecord(set, setter));
    if (fixed)
        CHECK(cuStreamWaitEvent(reader, set, 0));
    CHECK(cuMemcpyDtoHAsync(to, device, SMALL, reader));

    CHECK(cuCtxSynchronize());
    return finish(to[0] == 5 && to[SMALL - 1] == 5);
}
