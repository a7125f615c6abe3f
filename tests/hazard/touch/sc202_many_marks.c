// expect: SC202 kind=pinned certainty=latent
// sim: late=0
//
// The result of the last of many copies, each with other work behind it, is read when it has
// landed, which nothing the program did could tell it; a later copy in the stream is still held up,
// by an event that the program brings about only then. The reader is not kept waiting for that one.
#include "touch.h"

enum { COPIES = 300, BYTES = 4096 };

static inline void copy_often(unsigned char *targets, void *from, void *scratch,
                              cudaStream_t stream)
{
    for (size_t i = 0; i < COPIES; i++) {
        CHECK(cudaMemcpyAsync(targets + i * BYTES, from, BYTES, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaMemsetAsync(scratch, 0, BYTES, stream));
    }
}

int main(void)
{
    struct gate gate = {0};
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t copied = new_event();
    cudaEvent_t opened = new_event();
    void *from = device_block(BYTES, WANTED);
    void *scratch = device_block(BYTES, 0);
    unsigned char *targets = pinned_block((size_t)COPIES * BYTES, 0);
    unsigned char *last = targets + (size_t)(COPIES - 1) * BYTES;
    void *late = pinned_block(BYTES, 0);

    busy(stream);
    copy_often(targets, from, scratch, stream);
    CHECK(cudaEventRecord(copied, stream));
    shut_gate(&gate, other);
    CHECK(cudaEventRecord(opened, other));
    CHECK(cudaStreamWaitEvent(stream, opened, 0));
    usleep(1000); /* so long that the library marks the next copy at once */
    CHECK(cudaMemcpyAsync(late, from, BYTES, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaEventSynchronize(copied));
    else
        sleep_patiently(DONE_US);
    bool right = holds(last, BYTES, WANTED);

    open_gate(&gate);
    CHECK(cudaDeviceSynchronize());
    return finish(right && !gate.gave_up && holds(late, BYTES, WANTED));
}
