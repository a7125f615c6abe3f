// expect: none
// sim: late_batch=1
//
// A coroutine sends a local and leaves. The stacks of the coroutines lie in an array of main's, so
// that the local is below the coroutine that waits for the stream, but its function has not
// returned.
#include "batch.h"
#include "carved.h"

enum { BYTES = 300 };

static struct coroutine sender, waiter;
static cudaStream_t stream;
static void *device;

static void send(void)
{
    unsigned char local[BYTES];
    fill(local, BYTES, WANTED);
    batch_copy(device, local, BYTES, cudaMemcpySrcAccessOrderStream, stream);
    leave(&sender);
    fill(local, BYTES, FOREIGN);
}

static void wait_for_it(void)
{
    CHECK(cudaStreamSynchronize(stream));
}

int main(void)
{
    unsigned char stacks[2][COROUTINE_BYTES];
    stream = new_stream();
    device = device_block(BYTES, 0);

    start(&sender, stacks[0], send);
    start(&waiter, stacks[1], wait_for_it);
    resume(&sender);
    return finish(device_holds(device, BYTES, WANTED));
}
