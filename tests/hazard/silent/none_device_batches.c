// expect: none
// options: device=1
//
// Batches of copies beside copies and batches of other streams: of other bytes of the same memory,
// of bytes that both merely read, and in order by an event, the host, and the stream itself.
#include "batch.h"

enum { COPIES = 24 };

/* Each second block of `to`, the odd ones or the even ones, gets the same one of `from`. */
static void batch_of(char *to, char *from, bool odd, cudaStream_t stream)
{
    void *targets[COPIES];
    const void *sources[COPIES];
    size_t sizes[COPIES];
    for (size_t i = 0; i < COPIES; i++) {
        size_t at = (2 * i + odd) * SMALL;
        targets[i] = to + at;
        sources[i] = from + at;
        sizes[i] = SMALL;
    }
    batch_copies(targets, sources, sizes, COPIES, cudaMemcpySrcAccessOrderStream, stream);
}

int main(void)
{
    const size_t bytes = 2 * COPIES * SMALL;
    cudaStream_t even = new_stream();
    cudaStream_t odd = new_stream();
    cudaEvent_t copied = new_event();
    char *source = pinned_block(bytes, WANTED);
    char *target = pinned_block(bytes, 0);
    char *device = device_block(bytes, FOREIGN);
    char *copy = device_block(bytes, 0);
    char *other = device_block(bytes, 0);

    busy(even);
    busy(odd);
    batch_of(device, source, false, even);
    batch_of(device, source, true, odd);
    batch_of(copy, device, false, even); /* behind the batch of its stream */
    batch_of(copy, device, true, odd);
    CHECK(cudaEventRecord(copied, even));
    CHECK(cudaStreamWaitEvent(odd, copied, 0));
    CHECK(cudaMemcpyAsync(target, copy, bytes, cudaMemcpyDeviceToHost, odd));
    batch_of(other, copy, false, even); /* reads what is downloaded */
    CHECK(cudaDeviceSynchronize());
    batch_of(copy, source, false, odd);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, bytes, WANTED));
}
