// expect: SC202 action=stalled kind=pinned certainty=observed
//
// docs/wild-bugs.md, row 36: the backend's asynchronous get is followed by its synchronise, which
// does nothing for the stream that carries the copy. The sampler reads the logits.
#include "touch.h"

struct backend {
    cudaStream_t compute, copies;
};

static void synchronize(const struct backend *backend)
{
    CHECK(cudaStreamSynchronize(backend->compute));
    if (fixed)
        CHECK(cudaStreamSynchronize(backend->copies));
}

int main(void)
{
    struct backend backend = {new_stream(), new_stream()};
    void *device = device_block(SMALL, WANTED);
    void *logits = pinned_block(SMALL, 0);

    busy(backend.copies);
    CHECK(cudaMemcpyAsync(logits, device, SMALL, cudaMemcpyDeviceToHost, backend.copies));
    synchronize(&backend);
    bool right = holds(logits, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
