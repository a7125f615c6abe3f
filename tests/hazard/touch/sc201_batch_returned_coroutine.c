// expect: SC201 action=snapshotted kind=stack event=return
// sim: late_batch=1
//
// In a coroutine whose stack lies in an array of main's, a function sends a local and returns. The
// stack is not used again: that the function has returned is told by its frame.
#include "batch.h"
#include "carved.h"

enum { BYTES = 500 };

static struct coroutine coroutine;
static cudaStream_t stream;
static void *device;

static TWIN_HELPER void send(void)
{
    unsigned char local[BYTES];
    fill(local, BYTES, WANTED);
    batch_copy(device, local, BYTES, cudaMemcpySrcAccessOrderAny, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
}

static void run(void)
{
    send();
    CHECK(cudaStreamSynchronize(stream));
}

int main(void)
{
    unsigned char stack[COROUTINE_BYTES];
    stream = new_stream();
    device = device_block(BYTES, 0);
    busy(stream);

    start(&coroutine, stack, run);
    return finish(device_holds(device, BYTES, WANTED));
}
