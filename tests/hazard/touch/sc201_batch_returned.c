// expect: SC201 action=snapshotted kind=stack event=return
// sim: late_batch=1
//
// A function sends several of its locals in one batch and returns. The stack is not used again, so
// nothing is overwritten: that the function has returned is told by its frame.
#include "batch.h"

enum { LOCALS = 3, BYTES = 500 };

static __attribute__((noinline)) void send(void **targets, cudaStream_t stream)
{
    unsigned char locals[LOCALS][BYTES];
    const void *sources[LOCALS];
    size_t sizes[LOCALS];
    for (int i = 0; i < LOCALS; i++) {
        fill(locals[i], BYTES, WANTED);
        sources[i] = locals[i];
        sizes[i] = BYTES;
    }
    batch_copies(targets, sources, sizes, LOCALS, cudaMemcpySrcAccessOrderAny, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *targets[LOCALS];
    for (int i = 0; i < LOCALS; i++)
        targets[i] = device_block(BYTES, 0);

    busy(stream);
    send(targets, stream);

    CHECK(cudaStreamSynchronize(stream));
    bool right = true;
    for (int i = 0; i < LOCALS; i++)
        right = right && device_holds(targets[i], BYTES, WANTED);
    return finish(right);
}
