/*
 * A gate holds streams back: a host function blocks the first, the others wait for its event, and
 * what is issued behind it stays in flight until the gate opens.
 *
 * A driver's queues are finite, and a call that waits for room in a queue that stands still would
 * wait for ever. So the issuing thread reports each call while it fills the queue, and a gate that
 * has seen no progress for STUCK_NS gives way and says so.
 */
#ifndef BENCH_GATE_H
#define BENCH_GATE_H

#include "tests/bench/driver.h"
#include "tests/bench/measure.h"

#include <stdatomic.h>
#include <stdbool.h>

#define STUCK_NS (400U * 1000000U)
#define GATE_POLL_NS (50U * 1000U)

struct gate {
    atomic_bool open;
    atomic_bool filling; /* progress is to be expected */
    atomic_bool stuck;   /* the gate gave way: the queue was full after `progress` calls */
    atomic_ulong progress;
    CUevent event;
};

static void CUDA_CB gate_keeper(void *arg)
{
    struct gate *gate = arg;
    unsigned long seen = 0;
    uint64_t since_ns = now_ns();

    while (!atomic_load(&gate->open)) {
        unsigned long progress = atomic_load(&gate->progress);
        if (!atomic_load(&gate->filling) || progress != seen)
            since_ns = now_ns();
        seen = progress;
        if (now_ns() - since_ns > STUCK_NS) {
            atomic_store(&gate->stuck, true);
            return;
        }
        sleep_ns(GATE_POLL_NS);
    }
}

/* Nothing is in flight on the streams. The gate is opened before it goes out of scope. */
static inline void gate_close(struct gate *gate, const CUstream *streams, size_t count)
{
    *gate = (struct gate){0};
    MUST(driver.cuEventCreate(&gate->event, CU_EVENT_DISABLE_TIMING));
    MUST(driver.cuLaunchHostFunc(streams[0], gate_keeper, gate));
    MUST(driver.cuEventRecord(gate->event, streams[0]));
    for (size_t i = 1; i < count; i++)
        MUST(driver.cuStreamWaitEvent(streams[i], gate->event, 0));
}

/* Lets everything run and waits for it. */
static inline void gate_open(struct gate *gate)
{
    atomic_store(&gate->filling, false);
    atomic_store(&gate->open, true);
    MUST(driver.cuCtxSynchronize());
    MUST(driver.cuEventDestroy(gate->event));
}

/* One more call was issued behind the gate. */
static inline void gate_step(struct gate *gate)
{
    atomic_store_explicit(&gate->progress,
                          atomic_load_explicit(&gate->progress, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

#endif
