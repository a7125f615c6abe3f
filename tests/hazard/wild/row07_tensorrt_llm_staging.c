// expect: SC201 action=stalled kind=pinned certainty=observed
//
// docs/wild-bugs.md, row 7: one pinned staging buffer for all requests, kept and grown but never
// waited for: a request packs its block table into it while the table of the request before is on
// its way.
#include "touch.h"

struct staging {
    unsigned char *bytes;
    size_t size_bytes;
    cudaEvent_t sent;
};

static void stage(struct staging *staging, void *device, size_t bytes, unsigned seed,
                  cudaStream_t stream)
{
    if (staging->size_bytes < bytes) {
        CHECK(cudaFreeHost(staging->bytes));
        staging->bytes = (unsigned char *)pinned_block(bytes, 0);
        staging->size_bytes = bytes;
    }
    if (fixed)
        CHECK(cudaEventSynchronize(staging->sent));
    fill(staging->bytes, bytes, seed);
    CHECK(cudaMemcpyAsync(device, staging->bytes, bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(staging->sent, stream));
}

int main(void)
{
    struct staging staging = {.bytes = NULL, .size_bytes = 0, .sent = new_event()};
    cudaStream_t stream = new_stream();
    void *first = device_block(2 * SMALL, 0);
    void *second = device_block(SMALL, 0);

    busy(stream);
    stage(&staging, first, 2 * SMALL, WANTED, stream);
    stage(&staging, second, SMALL, FOREIGN, stream);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(first, 2 * SMALL, WANTED) && device_holds(second, SMALL, FOREIGN));
}
