// expect: SC201 kind=pinned
// options: pinned=driver
// not-by: ranges
//
// A small pinned source is refilled. Another small pinned block on its page is the destination of a
// download that begins behind it, and that keeps the page from everybody until it has ended. The
// page was let go before, as the host wrote a third block there.
#include "touch.h"

enum { BYTES = 496 };

static bool on_page_of(const void *first, const void *second)
{
    return ((uintptr_t)first ^ (uintptr_t)second) < 4096;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *device = device_block(BYTES, 0);
    void *from = device_block(BYTES, WANTED);
    void *source = pinned_block(BYTES, WANTED);
    void *result = pinned_block(BYTES, 0);
    void *beside = pinned_block(BYTES, 0);
    bool together = on_page_of(source, result) && on_page_of(source, beside);

    CHECK(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(beside, 0);
    fill(source, BYTES, FOREIGN);
    busy(other);
    CHECK(cudaMemcpyAsync(result, from, BYTES, cudaMemcpyDeviceToHost, other));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamSynchronize(other));
    return finish(together && device_holds(device, BYTES, WANTED) &&
                  holds(source, BYTES, FOREIGN) && holds(result, BYTES, WANTED));
}
