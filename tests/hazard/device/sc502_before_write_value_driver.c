// expect: SC502 action=ordered kind=device certainty=observed
// options: device=1
//
// Memory of a pool is copied, and a word is written behind that. Another stream frees the memory,
// and gets it again, before the host has heard of the word.
#include "signals.h"

int main(void)
{
    driver_start();
    CUstream copies = driver_new_stream();
    CUstream frees = driver_new_stream();
    CUdeviceptr to = driver_device_block(SMALL, 0);
    CUdeviceptr from = 0, next = 0;
    volatile uint32_t *word = new_words();
    CHECK(cuMemAllocAsync(&from, SMALL, copies));
    CHECK(cuMemsetD8Async(from, 5, SMALL, copies));
    CHECK(cuStreamSynchronize(copies));

    driver_busy(copies);
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, copies));
    write_word(word, 1, copies);
    if (fixed)
        await_word(word, 1);
    CHECK(cuMemFreeAsync(from, frees));
    CHECK(cuMemAllocAsync(&next, SMALL, frees));
    CHECK(cuMemsetD8Async(next, 9, SMALL, frees));

    CHECK(cuCtxSynchronize());
    return finish(download_is(to, 5));
}
