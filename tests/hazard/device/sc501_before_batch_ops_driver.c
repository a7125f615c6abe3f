// expect: SC501 action=ordered kind=device direction=D2D certainty=observed
// options: device=1
//
// Device memory is copied, and a batch of memory operations writes a word behind that, for which
// the host does not wait before another stream reads the copy.
#include "signals.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    CUdeviceptr from = driver_device_block(SMALL, 0);
    volatile uint32_t *word = new_words();
    CHECK(cuMemsetD8(from, 5, SMALL));
    CHECK(cuCtxSynchronize());

    driver_busy(stream);
    CHECK(cuMemcpyDtoDAsync(device, from, SMALL, stream));
    write_by_batch(word, 1, stream);
    if (fixed)
        await_word(word, 1);
    const unsigned char *to = download(device);

    CHECK(cuCtxSynchronize());
    return finish(is_all(to, 5));
}
