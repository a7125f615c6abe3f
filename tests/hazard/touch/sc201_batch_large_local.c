// expect: SC201 action=snapshotted kind=stack event=return
//
// A local of more than a snapshot's bytes, on a stack whose pages nobody may protect, is the source
// of a batch, and its function returns.
#include "batch.h"

enum { BYTES = 200 << 10 };

static __attribute__((noinline)) void send(void *device, cudaStream_t stream)
{
    unsigned char local[BYTES];
    fill(local, BYTES, WANTED);
    batch_copy(device, local, BYTES, cudaMemcpySrcAccessOrderAny, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
}

static __attribute__((noinline)) bool use_stack(void)
{
    unsigned char other[BYTES];
    fill(other, BYTES, FOREIGN);
    return holds(other, BYTES, FOREIGN);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);

    busy(stream);
    send(device, stream);
    bool used = use_stack();

    CHECK(cudaStreamSynchronize(stream));
    return finish(used && device_holds(device, BYTES, WANTED));
}
