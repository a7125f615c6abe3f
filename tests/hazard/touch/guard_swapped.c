// expect: SC201 action=stalled kind=pinned certainty=observed
// expect: SC202 action=stalled kind=pinned certainty=observed
//
// Two buffers in flight, of which the machine wants the pages back meanwhile, to swap them out.
// They are pinned, and so stay, but no page table has them any longer. So it goes where
// tests/swapped.py makes it, which names in RECLAIM the file by which a group gives up memory.
#include "touch.h"

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

/* /proc says of each page in 64 bits whether it is present. */
static bool is_out(const void *block)
{
    uint64_t entry = UINT64_MAX;
    int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    off_t at = (off_t)((uintptr_t)block / 4096 * sizeof entry);
    bool is_read = pread(file, &entry, sizeof entry, at) == (ssize_t)sizeof entry;
    close(file);
    return is_read && entry >> 63 == 0;
}

static void reclaim(const void *source, const void *target)
{
    const char *group = getenv("RECLAIM");
    int file = group ? open(group, O_WRONLY | O_CLOEXEC) : -1;
    if (!group)
        return;
    for (int i = 0; i < 200 && !(is_out(source) && is_out(target)); i++)
        if (write(file, "64M", 3) != 3)
            usleep(1000);
    close(file);
    if (!is_out(source) || !is_out(target))
        exit(9);
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
    reclaim(source, target);
    if (fixed)
        CHECK(cudaDeviceSynchronize());
    memcpy(source, target, SMALL);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && holds(source, SMALL, FOREIGN));
}
