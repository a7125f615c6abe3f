// expect: SC501 action=ordered kind=device direction=memset certainty=observed
// options: device=1
//
// Device memory is set in one stream. Another stream comes after that and writes a word, for which
// the host does not wait before a third stream reads the memory. It is not the first word of the
// process.
#include "signals.h"

int main(void)
{
    driver_start();
    CUevent set = driver_new_event();
    CUstream setter = driver_new_stream();
    CUstream notifier = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    volatile uint32_t *word = new_words();

    write_word(word, 1, notifier);
    driver_busy(setter);
    CHECK(cuMemsetD8Async(device, 5, SMALL, setter));
    CHECK(cuEventRecord(set, setter));
    CHECK(cuStreamWaitEvent(notifier, set, 0));
    write_word(word, 2, notifier);
    if (fixed)
        await_word(word, 2);
    const unsigned char *to = download(device);

    CHECK(cuCtxSynchronize());
    return finish(is_all(to, 5));
}
