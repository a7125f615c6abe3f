#include "interpose/ledger/managed.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "common/hazard.h"
#include "common/hazard_words.h"
#include "common/now.h"
#include "common/op_kinds.h"
#include "cupti_hooks/timeline.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/made_here.h"
#include "interpose/ledger/booking.h"
#include "interpose/ledger/moves.h"
#include "interpose/streams/contexts.h"
#include "ledger/ledger_words.h"
#include "ledger/residence.h"
#include "report/report.h"
#include "track/origins.h"

#include "common/poison.h"

static _Atomic uint32_t told; /* devices, a bit each */

/* Is managed memory watched? Not by a library that is not preloaded, which does not learn of all
 * frees. */
static bool is_on(void)
{
    return sc_booking_is_on() && !sc_process_is_alone();
}

/* ---- what a device has ---- */

/* Has the device this property? False also if the driver does not tell. */
static bool device_has(CUdevice device, CUdevice_attribute attribute)
{
    int value = 0;
    return sc_real.cuDeviceGetAttribute &&
           sc_real.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS && value;
}

/* Asks how much managed memory fits on the device. An integrated device has the host's memory. If
 * host and device must not use managed memory at the same time, the driver gives no more than the
 * device has. */
static uint64_t ask_room(CUdevice device)
{
    size_t bytes = 0;
    bool spills = device_has(device, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) &&
                  !device_has(device, CU_DEVICE_ATTRIBUTE_INTEGRATED);
    if (!spills || !sc_real.cuDeviceTotalMem_v2 ||
        sc_real.cuDeviceTotalMem_v2(&bytes, device) != CUDA_SUCCESS || !bytes)
        return UINT64_MAX;
    return bytes;
}

static _Atomic uint64_t rooms[SC_LEDGER_DEVICES]; /* 0: not asked for yet */

/* Returns how much managed memory fits on the device; 0 if the driver was not asked yet. */
static uint64_t known_room(CUdevice device)
{
    return atomic_load_explicit(&rooms[device], memory_order_relaxed);
}

/* Returns how much managed memory fits on the device. The driver is asked once. */
static uint64_t room_of(CUdevice device)
{
    uint64_t bytes = known_room(device);
    if (bytes)
        return bytes;
    bytes = ask_room(device);
    atomic_store_explicit(&rooms[device], bytes, memory_order_relaxed);
    return bytes;
}

/* ---- judging ---- */

/* Makes the hazard SC602: more managed memory is meant to lie on a device than fits. It names the
 * largest block, and as its event the latest call that asked for memory there. Observed: pages had
 * to leave the device, or calls asked for too much; else latent. */
static struct sc_hazard describe(int device, const struct sc_residence_sum *sum, bool is_observed)
{
    const struct sc_residence_part *latest = &sum->latest, *largest = &sum->largest;
    const struct sc_origin made = sc_origins_get(largest->made_by);
    const struct sc_origin event =
        sc_origins_get(latest->asked_by ? latest->asked_by : latest->made_by);
    return (struct sc_hazard){
        .code = SC602,
        .certainty = is_observed ? SC_OBSERVED : SC_LATENT,
        .action = SC_ACTION_REPORTED,
        .buffer_size_bytes = sum->bytes,
        .buffer_kind = SC_MANAGED,
        .buffer_origin = latest->made_by,
        .blocks = sum->blocks,
        .room_bytes = room_of(device),
        .copy = {.api = made.api ? made.api : "unknown",
                 .direction = SC_ALLOCATION,
                 .address = largest->address,
                 .size_bytes = largest->size_bytes,
                 .device = device,
                 .stack = made.stack},
        .event = {.api = event.api ? event.api : "unknown",
                  .stack = event.stack,
                  .thread = sc_thread_id(),
                  .time_ns = sc_now_ns()},
    };
}

/* Was this hazard reported for the device? It is only once. */
static bool is_reported(int device)
{
    return atomic_load_explicit(&told, memory_order_relaxed) & 1u << device;
}

/* Reports the hazard (more managed memory than fits on the device), once for each device. */
static void report_once(int device, const struct sc_residence_sum *sum, bool is_observed)
{
    if (atomic_fetch_or(&told, 1u << device) & 1u << device)
        return;
    const struct sc_hazard hazard = describe(device, sum, is_observed);
    if (!sc_report_suppresses(&hazard))
        sc_report_hazard(&hazard);
}

/* Judges whether the managed memory that is meant to lie on a device fits there, and reports if
 * not. That is memory with advice or a prefetch to the device, and all other memory if
 * `only_device` (-1: none) is this one, the only device that works. With `by_faults` it is memory
 * on which the device has faulted, and does not fit if the device had to evict pages. */
static void judge_device(int device, int only_device, bool by_faults)
{
    struct sc_residence_sum sum;
    uint64_t bytes = sc_residence_bytes(&sc_residence);
    if (bytes == 0 || is_reported(device) || (!by_faults && bytes <= room_of(device)))
        return;
    sc_residence_sum(&sc_residence, device, only_device, &sum);
    if ((!by_faults || sum.evicted_bytes) && sum.bytes > room_of(device))
        report_once(device, &sum, sum.asked_bytes > room_of(device) || sum.evicted_bytes);
}

/* Of a fault no size is told: what a device fetches at least (docs/driver.md). */
enum { FAULT_BYTES = 64 << 10 };

/* Notes a record of CUPTI's: pages of managed memory have moved, or a device has faulted on them.
 * It is where they are meant to lie, if no call says so. Records about the host alone are only
 * counted. */
void sc_managed_note_news(const struct sc_managed_news *news)
{
    enum sc_residence_news what = SC_RESIDENCE_COME;
    uint64_t bytes = news->value;
    uint32_t device = news->to;
    sc_moves_count(news);
    if (news->kind == SC_MANAGED_FAULT || news->kind == SC_MANAGED_TO_HOST)
        device = news->from;
    if (news->kind == SC_MANAGED_FAULT) {
        what = SC_RESIDENCE_FAULT;
        bytes = FAULT_BYTES;
    } else if (news->kind == SC_MANAGED_TO_HOST) {
        what = news->is_eviction ? SC_RESIDENCE_EVICTED : SC_RESIDENCE_LEAVE;
    } else if (news->kind != SC_MANAGED_TO_DEVICE && news->kind != SC_MANAGED_BETWEEN) {
        return;
    }
    sc_residence_note_news(&sc_residence, what, news->address, bytes, device);
}

/* Is any managed memory allocated? */
bool sc_managed_is_there(void)
{
    return sc_residence_bytes(&sc_residence) > 0;
}

/* Judges on each device the memory on which it has faulted. The library's thread calls this when
 * CUPTI has delivered records. */
void sc_managed_judge_faults(void)
{
    for (int device = 0; device < SC_LEDGER_DEVICES && is_on(); device++)
        judge_device(device, /*only_device*/ -1, /*by_faults*/ true);
}

/* Can managed memory exceed the room of any device that is not reported yet? A quick test, before
 * anything slow is done. */
static bool may_exceed(void)
{
    uint64_t bytes = sc_residence_bytes(&sc_residence);
    for (int device = 0; device < SC_LEDGER_DEVICES; device++)
        if (known_room(device) && bytes > known_room(device) && !is_reported(device))
            return true;
    return false;
}

/* Makes CUPTI deliver its records of moved pages. That may take long, so it is left out as long as
 * it would take more than a twentieth of the program's time. */
static void flush_moves(void)
{
    enum { SHARE = 20 };
    static _Atomic uint64_t due_ns;
    uint64_t before = sc_now_ns();
    if (before < atomic_load_explicit(&due_ns, memory_order_relaxed))
        return;
    sc_copy_times_flush();
    uint64_t after = sc_now_ns();
    atomic_store_explicit(&due_ns, after + SHARE * (after - before), memory_order_relaxed);
}

/* Judges memory that no call has said anything about, before some of it is freed. With CUPTI's
 * records it is judged by these, as soon as they are delivered. `waits`: those that are due may be
 * waited for here; a callback of CUPTI must not. Without records it counts for the only device that
 * works, if there is only one. */
static void judge_unadvised(bool waits)
{
    if (waits && sc_moves_are_known() && may_exceed())
        flush_moves();
    int only = sc_moves_are_known() ? -1 : sc_contexts_only_device();
    if (only >= 0)
        judge_device(only, only, false);
}

/* ---- what calls do ---- */

/* Notes managed memory that the program has allocated. How much fits on its device is asked now,
 * while the driver may be called. With the first such memory the thread that reads CUPTI's records
 * is woken. */
void sc_managed_given(const struct sc_call *call, CUdeviceptr address, size_t bytes,
                      const struct sc_context *context)
{
    if (!is_on() || !context || context->device >= SC_LEDGER_DEVICES)
        return;
    room_of(context->device); /* while the driver may be asked */
    const struct sc_residence_part block = {
        .address = address,
        .size_bytes = bytes,
        .made_by = sc_made_here(call),
        .context = context->legacy,
        .place = SC_RESIDENCE_ANYWHERE,
    };
    bool is_first = !sc_managed_is_there();
    sc_residence_given(&sc_residence, &block);
    if (is_first && sc_moves_are_known())
        sc_copy_times_wake();
}

/* Called before managed memory is freed: judges, while it is still there, whether such memory fits
 * on the devices that are meant to hold it; then forgets the block. */
void sc_managed_leaves(CUdeviceptr address)
{
    SC_KEEP_ERRNO();
    if (!is_on())
        return;
    judge_unadvised(true);
    sc_residence_taken(&sc_residence, address);
}

/* Returns the location that a call means which names it by a device alone, as before CUDA 12.2;
 * below 0: the host. */
CUmemLocation sc_managed_location(CUdevice device)
{
    return device < 0 ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST}
                      : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

/* Returns the place that advice names, as the records have it: a device, the host, or unknown. */
static int place_of(CUmemLocation location)
{
    if (location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return SC_RESIDENCE_HOST;
    return location.id >= 0 && location.id < SC_LEDGER_DEVICES ? location.id : SC_RESIDENCE_UNKNOWN;
}

/* Notes where the program wants managed memory to lie, with the call's stack, and judges whether it
 * fits there. Without any managed memory nothing is looked at. */
static void note_wish(const struct sc_call *call, CUdeviceptr address, size_t bytes, int place)
{
    SC_KEEP_ERRNO();
    if (!is_on() || !sc_residence_bytes(&sc_residence))
        return;
    sc_residence_note_advice(&sc_residence, address, bytes, place, sc_made_here(call));
    if (place >= 0)
        judge_device(place, -1, false);
}

/* Notes advice about managed memory (cuMemAdvise), if it is about where the memory is to lie. */
void sc_managed_advised(const struct sc_call *call, CUdeviceptr address, size_t bytes,
                        CUmem_advise advice, CUmemLocation location)
{
    if (advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION)
        note_wish(call, address, bytes, place_of(location));
    else if (advice == CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION)
        note_wish(call, address, bytes, SC_RESIDENCE_ANYWHERE);
}

/* Notes that the program has prefetched managed memory: it wants the memory to lie there. */
void sc_managed_prefetched(const struct sc_call *call, CUdeviceptr address, size_t bytes,
                           CUmemLocation location)
{
    note_wish(call, address, bytes, place_of(location));
}

/* Notes that the memory was discarded, or allocated for the host: no device is meant to hold it
 * until a call or a record of CUPTI says otherwise. */
void sc_managed_lies_nowhere(CUdeviceptr address, size_t bytes)
{
    if (is_on() && sc_managed_is_there())
        sc_residence_note_advice(&sc_residence, address, bytes, SC_RESIDENCE_NOWHERE, 0);
}

/* Forgets the managed memory of a context that has ended, and judges it before. CUPTI may be
 * reporting that end, so its records are not waited for. */
void sc_managed_context_ended(const struct sc_context *context)
{
    if (is_on())
        judge_unadvised(false);
    sc_residence_end_context(&sc_residence, context->legacy);
}

/* Judges at the end of the process, when there is time to wait for CUPTI's last records. */
void sc_managed_end(void)
{
    if (is_on())
        judge_unadvised(true);
}
