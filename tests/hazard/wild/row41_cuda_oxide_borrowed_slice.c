// expect: SC101 action=deferred kind=registered certainty=observed
// expect: SC201 kind=registered
//
// docs/wild-bugs.md, row 41: an upload that is declared safe borrows a slice for the call alone,
// and returns with the copy pending. Its caller may write to the slice again, and drop it.
#include "touch.h"

static void upload(void *device, const void *slice, size_t size_bytes, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(device, slice, size_bytes, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *first = device_block(SMALL, 0);
    void *second = device_block(SMALL, 0);
    unsigned char *slice = (unsigned char *)registered_page_block(SMALL, WANTED);
    void *dropped = registered_block(SMALL, WANTED);

    busy(stream);
    upload(first, slice, SMALL, stream);
    fill(slice, SMALL, FOREIGN);
    busy(stream);
    upload(second, dropped, SMALL, stream);
    if (fixed)
        CHECK(cudaHostUnregister(dropped));
    free(dropped);
    void *owner = filled_block(SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    bool right = device_holds(first, SMALL, WANTED) && device_holds(second, SMALL, WANTED);
    return finish(right && holds(owner, SMALL, FOREIGN) && holds(slice, SMALL, FOREIGN));
}
