// expect: SC501 action=ordered kind=device direction=memset certainty=observed
// options: device=1
// sim: aside=20ms
//
// Device memory is set in a blocking stream, and in the legacy one, which writes a word behind
// both. The host does not wait for the word before streams of their own read the memory.
#include "signals.h"

int main(void)
{
    driver_start();
    CUstream blocking = NULL;
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    CUdeviceptr other = driver_device_block(SMALL, FOREIGN);
    volatile uint32_t *word = new_words();
    CHECK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));

    driver_busy(blocking);
    CHECK(cuMemsetD8Async(device, 5, SMALL, blocking));
    CHECK(cuMemsetD8Async(other, 6, SMALL, NULL));
    write_word(word, 1, NULL);
    if (fixed)
        await_word(word, 1);
    const unsigned char *to = download(device);
    const unsigned char *also = download(other);

    CHECK(cuCtxSynchronize());
    return finish(is_all(to, 5) && is_all(also, 6));
}
