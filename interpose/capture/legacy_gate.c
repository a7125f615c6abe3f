#include "interpose/capture/legacy_gate.h"

#include <sched.h>
#include <stdint.h>

#include "common/checks.h"
#include "common/now.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"

#include "common/poison.h"

enum { LANES = 16, LANE_BYTES = 64, PATIENCE_NS = 1000 * 1000 };

_Atomic bool sc_legacy_gate_used;

/* Operations that have entered, by thread: most lanes are one thread's. */
static struct lane {
    _Alignas(LANE_BYTES) _Atomic unsigned inside;
} lanes[LANES];

static _Atomic unsigned shut;

static struct lane *own_lane(void)
{
    return &lanes[(unsigned)sc_thread_id() % LANES];
}

static bool is_shut(void)
{
    return atomic_load(&shut) != 0;
}

static bool is_occupied(void)
{
    for (unsigned i = 0; i < LANES; i++)
        if (atomic_load(&lanes[i].inside))
            return true;
    return false;
}

static void wait_while(bool (*holds)(void))
{
    uint64_t end_ns = sc_now_ns() + PATIENCE_NS;
    while (holds() && sc_now_ns() < end_ns)
        sched_yield();
}

/* In first and then looking, as whoever shuts the gate does it first and then looks who is in. */
void sc_legacy_gate_enter(void)
{
    struct lane *lane = own_lane();
    atomic_fetch_add(&lane->inside, 1);
    if (sc_likely(!is_shut()))
        return;
    atomic_fetch_sub(&lane->inside, 1);
    wait_while(is_shut);
    atomic_fetch_add(&lane->inside, 1);
}

void sc_legacy_gate_leave(void)
{
    SC_ASSERT(atomic_load(&own_lane()->inside) != 0);
    atomic_fetch_sub(&own_lane()->inside, 1);
}

void sc_legacy_gate_shut(void)
{
    atomic_store_explicit(&sc_legacy_gate_used, true, memory_order_relaxed);
    atomic_fetch_add(&shut, 1);
    wait_while(is_occupied);
}

void sc_legacy_gate_open(void)
{
    SC_ASSERT(atomic_load(&shut) != 0);
    atomic_fetch_sub(&shut, 1);
}
