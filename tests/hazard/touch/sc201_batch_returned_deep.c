// expect: SC201 action=snapshotted kind=stack event=return
// sim: late_batch=1
//
// Deep within a recursion, a function sends a local and returns.
#include "batch.h"

enum { BYTES = 500, DEEP = 1500 };

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

static TWIN_HELPER int descend(int left)
{
    volatile int kept = left;
    if (left == 0)
        send();
    else
        descend(left - 1);
    return kept;
}

int main(void)
{
    stream = new_stream();
    device = device_block(BYTES, 0);
    busy(stream);
    descend(DEEP);
    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, BYTES, WANTED));
}
