// expect: none
//
// Two blocking streams use one buffer, and between them nothing is in the legacy stream but the
// record of an event, or a wait for one that is complete: they join the first, and the second waits
// for them.
#include "relay.h"

static cudaEvent_t complete_event(cudaStream_t stream)
{
    cudaEvent_t event = new_event();
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaEventSynchronize(event));
    return event;
}

int main(void)
{
    struct relay relay = new_relay();
    cudaEvent_t event = complete_event(relay.up);

    bring_down(&relay);
    CHECK(cudaStreamWaitEvent(cudaStreamLegacy, event, 0));
    send_up(&relay);
    bool right = arrived(&relay);

    bring_down(&relay);
    CHECK(cudaEventRecord(event, cudaStreamLegacy));
    send_up(&relay);
    right = right && arrived(&relay);

    CHECK(cudaFreeHost(relay.between));
    return finish(right);
}
