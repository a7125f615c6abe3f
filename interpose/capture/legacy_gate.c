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

/* How many operations on the legacy stream are inside the gate, as a sum over lanes. Each thread
 * counts in the lane that its id gives it, so that most lanes are used by one thread. */
static struct lane {
    _Alignas(LANE_BYTES) _Atomic unsigned operations;
} lanes[LANES];

static _Atomic unsigned times_shut; /* how many threads keep the gate shut now */

/* Returns the lane in which this thread counts its operations. */
static struct lane *own_lane(void)
{
    return &lanes[(unsigned)sc_thread_id() % LANES];
}

/* Does any thread keep the gate shut, since it begins a capture? */
static bool is_shut(void)
{
    return atomic_load(&times_shut) != 0;
}

/* Is any operation on the legacy stream inside the gate? */
static bool is_occupied(void)
{
    for (unsigned i = 0; i < LANES; i++)
        if (atomic_load(&lanes[i].operations))
            return true;
    return false;
}

/* Waits while `holds` returns true, a millisecond at most: an operation may stay in the driver
 * until the device has caught up, although the driver has taken it long before. */
static void wait_briefly_while(bool (*holds)(void))
{
    uint64_t end_ns = sc_now_ns() + WAIT_NS;
    while (holds() && sc_now_ns() < end_ns)
        sched_yield();
}

/* Called before an operation on the legacy stream: waits while another thread begins a capture. The
 * operation is counted first, and then the gate is looked at; a thread that shuts the gate does so
 * first, and then looks at the counts. So one of the two sees the other. */
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

/* Called behind the operation, on the thread that has entered. */
void sc_legacy_gate_leave(void)
{
    SC_ASSERT(atomic_load(&own_lane()->operations) != 0);
    atomic_fetch_sub(&own_lane()->operations, 1);
}

/* Called before a call that makes a blocking stream capture: keeps operations on the legacy stream
 * out, and waits until those inside have left. */
void sc_legacy_gate_shut(void)
{
    atomic_store_explicit(&sc_legacy_gate_used, true, memory_order_relaxed);
    atomic_fetch_add(&times_shut, 1);
    wait_briefly_while(is_occupied);
}

/* Called behind that call: operations on the legacy stream may enter again. */
void sc_legacy_gate_open(void)
{
    SC_ASSERT(atomic_load(&times_shut) != 0);
    atomic_fetch_sub(&times_shut, 1);
}
