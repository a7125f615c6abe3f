// expect: SC101 action=deferred kind=registered certainty=latent
// sim: late=0
// not-by: ranges
//
// As sc101_free_latent, on the legacy stream of a process in which a stream has captured. The
// library's own thread has no context, and must still see that the copy is complete.
#include "twin.h"

static void capture_nothing(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphDestroy(graph));
}

int main(void)
{
    void *device = device_block(SMALL, 0);
    void *other = device_block(SMALL, 0);
    void *kept = registered_block(SMALL, FOREIGN);
    void *source = registered_block(SMALL, WANTED);

    capture_nothing(new_stream());
    CHECK(cudaMemcpyAsync(other, kept, SMALL, cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, 0));
    sleep_patiently(DONE_US);
    if (fixed) {
        CHECK(cudaStreamSynchronize(0));
        CHECK(cudaHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    sleep_patiently(DONE_US);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
