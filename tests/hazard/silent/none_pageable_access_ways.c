// expect: none
// sim: pageable_access=1
//
// A device that works with pageable memory in place writes a buffer that it has just read, and
// reads one that it has just written: page protection would keep it from that. The buffer is shared
// memory, of which the simulated device heeds the protection.
#include "batch.h"

#include <sys/mman.h>

static void *buffer_pages(void)
{
    void *pages = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        exit(3);
    fill(pages, LARGE, FOREIGN);
    return pages;
}

static void copy(void *to, const void *from, bool batch, cudaStream_t stream)
{
    if (batch)
        batch_copy(to, from, LARGE, cudaMemcpySrcAccessOrderStream, stream);
    else
        CHECK(cudaMemcpyAsync(to, from, LARGE, cudaMemcpyDefault, stream));
}

static bool up_and_down(bool batch, cudaStream_t stream)
{
    void *wanted = device_block(LARGE, WANTED);
    void *other = device_block(LARGE, WANTED);
    void *buffer = buffer_pages();
    copy(other, buffer, batch, stream);
    copy(buffer, wanted, batch, stream);
    CHECK(cudaStreamSynchronize(stream));
    return holds(buffer, LARGE, WANTED) && device_holds(other, LARGE, FOREIGN);
}

static bool down_and_up(bool batch, cudaStream_t stream)
{
    void *wanted = device_block(LARGE, WANTED);
    void *other = device_block(LARGE, FOREIGN);
    void *buffer = buffer_pages();
    copy(buffer, wanted, batch, stream);
    copy(other, buffer, batch, stream);
    CHECK(cudaStreamSynchronize(stream));
    return holds(buffer, LARGE, WANTED) && device_holds(other, LARGE, WANTED);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    bool right = true;
    for (int batch = 0; batch < 2; batch++) {
        right = up_and_down(batch, stream) && right;
        right = down_and_up(batch, stream) && right;
    }
    return finish(right);
}
