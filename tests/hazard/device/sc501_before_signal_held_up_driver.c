// expect: SC501 action=ordered kind=device direction=memset certainty=observed
// options: device=1
// sim: aside=20ms
//
// Device memory is set in a blocking stream, which the legacy stream holds up from then on, and
// which writes a word. The racy build does not wait for the word before another stream reads the
// memory.
#include "signals.h"

int main(void)
{
    driver_start();
    CUstream blocking = NULL;
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    CUdeviceptr other = driver_device_block(SMALL, FOREIGN);
    volatile uint32_t *word = new_words();
    CHECK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    load_spin();

    driver_busy(blocking);
    CHECK(cuMemsetD8Async(device, 5, SMALL, blocking));
    CHECK(cuMemsetD8Async(other, 6, SMALL, NULL));
    write_word(word, 1, blocking);
    spin_behind(blocking);
    if (fixed)
        await_word(word, 1);
    const unsigned char *to = download(device);

    CHECK(cuCtxSynchronize());
    return finish(is_all(to, 5));
}
