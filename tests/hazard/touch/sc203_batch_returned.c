// expect: SC203 action=reported kind=stack event=return
//
// A batch is to write a local of a function that returns: what lies there then is the next one's.
#include "batch.h"

enum { BYTES = 64, ROOM = 4096 };

/* In the midst of the frame, where the next one keeps nothing. */
static __attribute__((noinline)) void fetch(void *device, cudaStream_t stream)
{
    unsigned char local[ROOM];
    batch_copy(local + ROOM / 2, device, BYTES, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
}

static __attribute__((noinline)) void wait_deeper(cudaStream_t stream)
{
    unsigned char room[ROOM];
    fill(room, ROOM, FOREIGN);
    CHECK(cudaStreamSynchronize(stream));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, WANTED);

    busy(stream);
    fetch(device, stream);
    wait_deeper(stream);
    return finish(device_holds(device, BYTES, WANTED));
}
