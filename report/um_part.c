#include "report/um_part.h"

#include "ledger/ledger_words.h"
#include "ledger/managed_counts.h"
#include "report/json.h"
#include "report/report.h"

#include "common/poison.h"

/* Writes page faults and moved bytes of managed memory of one device; nothing if there are
 * none. */
static void put_device(struct sc_text *line, const struct sc_managed_device *device,
                       unsigned number)
{
    if (device->faults || device->from_host_bytes || device->to_host_bytes ||
        device->from_devices_bytes)
        sc_json_put(line,
                    "{device:%u faults:%lu from_host_bytes:%lu to_host_bytes:%lu evicted_bytes:%lu "
                    "from_devices_bytes:%lu}",
                    number, device->faults, device->from_host_bytes, device->to_host_bytes,
                    device->evicted_bytes, device->from_devices_bytes);
}

/* Appends the member `um`: how managed memory moved, and what made it slow (pages that thrash
 * between devices, or are throttled). Nothing unless the option um is on. */
void sc_um_part_put(struct sc_text *line, const struct sc_report_um *um)
{
    const struct sc_managed_counts *counts = um->counts;
    if (!um->state)
        return;
    sc_json_put(line,
                "um:{state:%s detail~:%s records:%lu dropped:%lu host_faults:%lu "
                "thrashing_bytes:%lu throttled:%lu remote_map_bytes:%lu devices:[",
                um->state, um->detail, counts->records, um->dropped, counts->host_faults,
                counts->thrashing_bytes, counts->throttled, counts->remote_map_bytes);
    for (unsigned i = 0; i < SC_LEDGER_DEVICES; i++)
        put_device(line, &counts->devices[i], i);
    sc_json_put(line, "]}");
}
