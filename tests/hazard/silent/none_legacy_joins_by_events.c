// expect: none
//
// Two blocking streams use one buffer, and between them nothing is in the legacy stream but the
// record of an event, or a wait for one that is complete: they join the first, and the second waits
// for them.
#include "twin.h"

static cudaEvent_t complete_event(cudaStream_t stream)
{
    cudaEvent_t event = NULL;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaEventSynchronize(event));
    return event;
}

int main(void)
{
    cudaStream_t down = NULL;
    cudaStream_t up = NULL;
    CHECK(cudaStreamCreate(&down));
    CHECK(cudaStreamCreate(&up));
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);
    cudaEvent_t event = complete_event(up);
    bool right = true;

    for (unsigned i = 0; i < 2; i++) {
        busy(down);
        CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, down));
        if (i == 0)
            CHECK(cudaStreamWaitEvent(cudaStreamLegacy, event, 0));
        else
            CHECK(cudaEventRecord(event, cudaStreamLegacy));
        CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyHostToDevice, up));
        CHECK(cudaStreamSynchronize(up));
        right = right && device_holds(to, SMALL, WANTED);
    }
    CHECK(cudaFreeHost(between));
    return finish(right);
}
