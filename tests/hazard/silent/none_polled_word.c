// expect: none
//
// The host spins on a word beside a destination in flight, until a host function behind the copy
// sets it: then the data is there as well.
#include "touch.h"

#include <stdatomic.h>

enum { DATA = 4000 };

static void set_word(void *word)
{
    atomic_store((_Atomic uint32_t *)word, 1);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(DATA, WANTED);
    char *page = (char *)pinned_block(4096, 0);
    _Atomic uint32_t *word = (_Atomic uint32_t *)(void *)(page + DATA);
    *word = 0;

    busy(stream);
    CHECK(cudaMemcpyAsync(page, device, DATA, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, set_word, word));
    while (atomic_load(word) == 0)
        usleep(100);
    bool right = holds(page, DATA, WANTED);

    CHECK(cudaStreamSynchronize(stream));
    return finish(right);
}
