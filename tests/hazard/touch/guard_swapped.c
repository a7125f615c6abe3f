// expect: SC201 action=stalled kind=pinned certainty=observed
// expect: SC202 action=stalled kind=pinned certainty=observed
//
// Two buffers in flight, of which the machine swaps the pages out meanwhile. So it does where
// tests/swapped.py makes it, which names in RECLAIM the file by which a group gives up memory; where
// nothing does, the pages stay.
#include "touch.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_out(void *block)
{
    unsigned char resident = 1;
    void *page = (void *)((uintptr_t)block & ~(uintptr_t)4095);
    return mincore(page, 4096, &resident) == 0 && !(resident & 1);
}

static void swap_out(void *source, void *target)
{
    const char *reclaim = getenv("RECLAIM");
    int file = reclaim ? open(reclaim, O_WRONLY | O_CLOEXEC) : -1;
    if (!reclaim)
        return;
    for (int i = 0; i < 200 && !(is_out(source) && is_out(target)); i++)
        if (write(file, "64M", 3) != 3)
            usleep(1000);
    if (!is_out(source) || !is_out(target))
        exit(9);
    close(file);
}

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    void *to = device_block(SMALL, 0);
    void *from = device_block(SMALL, FOREIGN);
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    busy(down);
    busy(up);
    busy(up);
    CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, up));
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, down));
    swap_out(source, target);
    if (fixed)
        CHECK(cudaDeviceSynchronize());
    memcpy(source, target, SMALL);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && holds(source, SMALL, FOREIGN));
}
