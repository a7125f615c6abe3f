// expect: SC202 action=stalled certainty=observed
// expect: SC201 action=stalled certainty=observed
//
// Established by the legacy stream's own rule: a synchronous copy comes after the work of blocking
// streams. The racy build's stream is a non-blocking one.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = NULL;
    CHECK(cudaStreamCreateWithFlags(&stream, fixed ? cudaStreamDefault : cudaStreamNonBlocking));
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *next = device_block(SMALL, FOREIGN);
    void *sent = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpy(to, between, SMALL, cudaMemcpyHostToDevice));
    CHECK(cudaStreamSynchronize(stream));
    busy(stream);
    CHECK(cudaMemcpyAsync(sent, between, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpy(between, next, SMALL, cudaMemcpyDeviceToHost));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && device_holds(sent, SMALL, WANTED) &&
                  holds(between, SMALL, FOREIGN));
}
