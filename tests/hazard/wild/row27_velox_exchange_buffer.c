// expect: SC502 action=ordered kind=device origin=cuMemAllocAsync direction=D2H certainty=observed
// options: device=1
//
// docs/wild-bugs.md, row 27: an exchange hands its buffer to another driver, which sends it on a
// stream of its own. The buffer is given back in the order of the stream that made it, and the next
// page gets its memory.
#include "twin.h"

struct buffer {
    void *bytes;
    cudaStream_t made_on;
};

static struct buffer make_buffer(const void *content, cudaStream_t stream)
{
    struct buffer buffer = {NULL, stream};
    CHECK(cudaMallocAsync(&buffer.bytes, LARGE, stream));
    CHECK(cudaMemcpyAsync(buffer.bytes, content, LARGE, cudaMemcpyHostToDevice, stream));
    return buffer;
}

static void drop_buffer(const struct buffer *buffer)
{
    CHECK(cudaFreeAsync(buffer->bytes, buffer->made_on));
}

int main(void)
{
    cudaStream_t source = new_stream(), sink = new_stream();
    cudaEvent_t sent = new_event();
    void *content = pinned_block(LARGE, WANTED);
    void *other = pinned_block(LARGE, FOREIGN);
    void *message = pinned_block(LARGE, 0);

    struct buffer page = make_buffer(content, source);
    CHECK(cudaStreamSynchronize(source));
    busy(sink);
    CHECK(cudaMemcpyAsync(message, page.bytes, LARGE, cudaMemcpyDeviceToHost, sink));
    CHECK(cudaEventRecord(sent, sink));
    if (fixed)
        CHECK(cudaStreamWaitEvent(source, sent, 0));
    drop_buffer(&page);
    struct buffer next = make_buffer(other, source);

    CHECK(cudaDeviceSynchronize());
    drop_buffer(&next);
    CHECK(cudaDeviceSynchronize());
    return finish(holds(message, LARGE, WANTED));
}
