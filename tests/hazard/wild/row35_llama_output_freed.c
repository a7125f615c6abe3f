// expect: SC105 action=deferred certainty=observed
//
// docs/wild-bugs.md, row 35: a longer batch needs a larger output buffer. The old one, of pinned
// memory, is freed and a new one made while the logits of the last batch are on their way into it.
#include "twin.h"

struct output {
    void *logits;
    size_t size_bytes;
};

static void reserve(struct output *output, size_t size_bytes, cudaStream_t stream)
{
    if (output->size_bytes >= size_bytes)
        return;
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(output->logits));
    output->logits = pinned_block(size_bytes, FOREIGN);
    output->size_bytes = size_bytes;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    struct output output = {pinned_block(SMALL, 0), SMALL};
    void *device = device_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(output.logits, device, SMALL, cudaMemcpyDeviceToHost, stream));
    reserve(&output, SMALL + SMALL / 2, stream);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(output.logits, SMALL + SMALL / 2, FOREIGN));
}
