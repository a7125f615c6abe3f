// expect: SC501 action=ordered kind=device direction=memset certainty=observed
// options: device=1
//
// Device memory is set, and a word is written behind that, for which the host does not wait before
// another stream reads the memory.
#include "signals.h"

int main(void)
{
    driver_start();
    CUstream setter = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    volatile uint32_t *word = new_words();

    driver_busy(setter);
    CHECK(cuMemsetD8Async(device, 5, SMALL, setter));
    write_word(word, 1, setter);
    if (fixed)
        await_word(word, 1);
    const unsigned char *to = download(device);

    CHECK(cuCtxSynchronize());
    return finish(is_all(to, 5));
}
