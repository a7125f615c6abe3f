// expect: none
//
// Two blocking streams use one buffer, with work on the legacy stream between them: it waits for
// the first and the second waits for it.
#include "relay.h"

int main(void)
{
    struct relay relay = new_relay();
    void *scratch = device_block(SMALL, 0);

    bring_down(&relay);
    CHECK(cudaMemsetAsync(scratch, 0, SMALL, cudaStreamLegacy));
    send_up(&relay);

    bool right = arrived(&relay);
    CHECK(cudaFreeHost(relay.between));
    return finish(right);
}
