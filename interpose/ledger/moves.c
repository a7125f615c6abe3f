#include "interpose/ledger/moves.h"

#include "cupti_hooks/subscription.h"
#include "cupti_hooks/timeline.h"
#include "ledger/ledger_words.h"

#include "common/poison.h"

static struct sc_managed_counts counts;

/* Adds to a count, which others may read at the same time. */
static void add_to_count(_Atomic uint64_t *count, uint64_t value)
{
    atomic_fetch_add_explicit(count, value, memory_order_relaxed);
}

/* Returns the device's counts; devices beyond the last entry share that one. */
static struct sc_managed_device *device_of(uint32_t number)
{
    return &counts.devices[number < SC_LEDGER_DEVICES ? number : SC_LEDGER_DEVICES - 1];
}

/* Counts bytes of managed memory that have moved from a device to the host; and once more those
 * that were evicted because the device had no room. */
static void count_left_device(const struct sc_managed_news *news)
{
    struct sc_managed_device *device = device_of(news->from);
    add_to_count(&device->to_host_bytes, news->value);
    if (news->is_eviction)
        add_to_count(&device->evicted_bytes, news->value);
}

/* Counts one record of CUPTI's about managed memory that moves, or on which a device or the host
 * faults. */
void sc_moves_count(const struct sc_managed_news *news)
{
    add_to_count(&counts.records, 1);
    switch (news->kind) {
    case SC_MANAGED_TO_DEVICE:
        add_to_count(&device_of(news->to)->from_host_bytes, news->value);
        break;
    case SC_MANAGED_TO_HOST:
        count_left_device(news);
        break;
    case SC_MANAGED_BETWEEN:
        add_to_count(&device_of(news->to)->from_devices_bytes, news->value);
        break;
    case SC_MANAGED_FAULT:
        add_to_count(&device_of(news->from)->faults, news->value);
        break;
    case SC_MANAGED_HOST_FAULT: /* the value is the instruction's address */
        add_to_count(&counts.host_faults, 1);
        break;
    case SC_MANAGED_THRASHING:
        add_to_count(&counts.thrashing_bytes, news->value);
        break;
    case SC_MANAGED_THROTTLING:
        add_to_count(&counts.throttled, 1);
        break;
    case SC_MANAGED_REMOTE_MAP:
        add_to_count(&counts.remote_map_bytes, news->value);
        break;
    }
}

/* Does CUPTI report all moves, and has it dropped no record? */
bool sc_moves_are_known(void)
{
    struct sc_timeline_counts all;
    if (sc_timeline_managed_state() != SC_CUPTI_LISTENING)
        return false;
    sc_timeline_get_counts(&all);
    return all.dropped == 0;
}

/* Returns the counts, which go on changing, for the report. */
const struct sc_managed_counts *sc_moves_counts(void)
{
    return &counts;
}
