// expect: SC201 kind=pinned
//
// A host function fills the source of a copy that was issued behind it. In the racy build it runs
// on a stream that nothing orders before the copy's.
#include "touch.h"

static void fill_source(void *source)
{
    fill(source, SMALL, fixed ? WANTED : FOREIGN);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, fixed ? 0 : WANTED);

    busy(stream);
    if (fixed)
        CHECK(cudaLaunchHostFunc(stream, fill_source, source));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (!fixed)
        CHECK(cudaLaunchHostFunc(other, fill_source, source));

    CHECK(cudaStreamSynchronize(other));
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
