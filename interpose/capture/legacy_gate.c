#include "interpose/capture/legacy_gate.h"

#include <sched.h>
#include <stdint.h>

#include "common/checks.h"
#include "common/now.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"

#include "common/poison.h"

enum { LANES = 16, LANE_BYTES = 64, WAIT_NS = 1000 * 1000 };

_Atomic bool sc_legacy_gate_used;

/* How many operations have entered. Threads share the lanes, but most lanes are used by one thread.
 */
static struct lane {
    _Alignas(LANE_BYTES) _Atomic unsigned operations;
} lanes[LANES];

static _Atomic unsigned times_shut;

static struct lane *own_lane(void)
{
    return &lanes[(unsigned)sc_thread_id() % LANES];
}

static bool is_shut(void)
{
    return atomic_load(&times_shut) != 0;
}

/* Is any thread making a call on the legacy stream? */
static bool is_occupied(void)
{
    for (unsigned i = 0; i < LANES; i++)
        if (atomic_load(&lanes[i].operations))
            return true;
    return false;
}

/* Waits while `holds` is true, a millisecond at most. */
static void wait_briefly_while(bool (*holds)(void))
{
    uint64_t end_ns = sc_now_ns() + WAIT_NS;
    while (holds() && sc_now_ns() < end_ns)
        sched_yield();
}

/* Announces the operation first, and then checks whether the gate is shut; a thread that shuts the
 * gate does so first, and then checks for operations. So one of the two sees the other. If the gate
 * was shut, the operation waits. */
void sc_legacy_gate_enter(void)
{
    struct lane *lane = own_lane();
    atomic_fetch_add(&lane->operations, 1);
    if (sc_likely(!is_shut()))
        return;
    atomic_fetch_sub(&lane->operations, 1);
    wait_briefly_while(is_shut);
    atomic_fetch_add(&lane->operations, 1);
}

void sc_legacy_gate_leave(void)
{
    SC_ASSERT(atomic_load(&own_lane()->operations) != 0);
    atomic_fetch_sub(&own_lane()->operations, 1);
}

void sc_legacy_gate_shut(void)
{
    atomic_store_explicit(&sc_legacy_gate_used, true, memory_order_relaxed);
    atomic_fetch_add(&times_shut, 1);
    wait_briefly_while(is_occupied);
}

void sc_legacy_gate_open(void)
{
    SC_ASSERT(atomic_load(&times_shut) != 0);
    atomic_fetch_sub(&times_shut, 1);
}
