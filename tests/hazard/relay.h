/* For the twins of two blocking streams that hand a pinned buffer on: one fills it, the other sends
 * it. Whatever takes a stream is statically inline for the reason that busy() is.
 */
#ifndef SC_TESTS_HAZARD_RELAY_H
#define SC_TESTS_HAZARD_RELAY_H

#include "twin.h"

struct relay {
    cudaStream_t down, up;
    void *from, *to; /* on the device */
    void *between;   /* pinned */
};

static TWIN_HELPER struct relay new_relay(void)
{
    return (struct relay){.down = blocking_stream(),
                          .up = blocking_stream(),
                          .from = device_block(SMALL, WANTED),
                          .to = device_block(SMALL, 0),
                          .between = pinned_block(SMALL, FOREIGN)};
}

/* Late, on the first stream. */
static inline void bring_down(const struct relay *relay)
{
    busy(relay->down);
    CHECK(cudaMemcpyAsync(relay->between, relay->from, SMALL, cudaMemcpyDeviceToHost, relay->down));
}

/* On the second stream, which is done on return. */
static inline void send_up(const struct relay *relay)
{
    CHECK(cudaMemcpyAsync(relay->to, relay->between, SMALL, cudaMemcpyHostToDevice, relay->up));
    CHECK(cudaStreamSynchronize(relay->up));
}

/* What was sent last is as wanted. Nothing is in flight. */
static TWIN_HELPER bool arrived(const struct relay *relay)
{
    return device_holds(relay->to, SMALL, WANTED);
}

#endif
