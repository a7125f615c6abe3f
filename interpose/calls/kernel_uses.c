#include "interpose/calls/kernel_uses.h"

#include <stddef.h>

#include "common/hazard_words.h"
#include "common/op_kinds.h"
#include "common/pages.h"
#include "common/unsure.h"
#include "interpose/base/process.h"
#include "interpose/calls/device_uses.h"
#include "interpose/calls/issue.h"
#include "interpose/driver/kernel_parameters.h"
#include "interpose/driver/replaying.h"
#include "interpose/guard/door.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/hazards.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "track/device_use.h"
#include "track/graph_records.h"
#include "track/graphs.h"
#include "track/op_info.h"
#include "track/ops.h"
#include "track/track.h"
#include "track/track_device.h"
#include "track/track_front.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_presence.h"
#include "track/track_ranges.h"
#include "track/track_streams.h"

#include "common/poison.h"

/* Removes from the list, of words among a kernel's parameters that may be addresses, all but those
 * in device memory that the library knows, and keeps each of these once. Without device=1 none is
 * kept. */
static void keep_device_addresses(struct sc_kernel_parameters *read)
{
    read->count = sc_track_watches_device(&sc_track)
                      ? sc_track_device_keep_known(&sc_track, read->addresses, read->count)
                      : 0;
}

/* Called before a launch: judges the device memory of which the kernel is given addresses.
 * Conflicts are healed with kernels=order alone, since the kernel may not use that memory at all.
 * `after`: what the launch comes after besides its stream's work, or NULL. */
static void judge_device(const struct sc_call *call, struct sc_stream_record *stream,
                         const struct sc_kernel_parameters *read, const struct sc_point *after)
{
    bool heals = sc_options.kernels == SC_KERNELS_ORDER;
    for (unsigned i = 0; i < read->count; i++) {
        const struct sc_device_use use = sc_device_use_named(read->addresses[i]);
        sc_device_uses_judge_all(&use, 1, call, stream, heals ? SC_HEALED_BY_EDGE : SC_NOT_HEALED,
                                 after);
    }
}

/* ---- host memory ---- */

/* Adds to `host` those of the addresses that lie in host memory the driver knows. Not in a replay
 * (of a call that came through no wrapper): the kernel's parameters may be gone by then. */
static void add_host_bytes(const struct sc_kernel_parameters *read, struct sc_kernel_host *host)
{
    if (!sc_replaying_is_on())
        sc_track_find_kernel_host(&sc_track, read->addresses, read->count, host);
}

/* Describes the launch's use of one byte of host memory as an operation: the kernel is given the
 * byte's address, and counts as reading it. Memory that may be a flag, by which the kernel tells
 * the host how far it is (`digest`), is recorded, but nothing is reported of it. */
static struct sc_op_info describe(const struct sc_kernel_byte *byte, const struct sc_call *call,
                                  struct sc_stream_record *stream, const struct sc_point *after)
{
    const struct sc_range_info range = sc_track_find_range(&sc_track, byte->address);
    return (struct sc_op_info){
        .api = call->api,
        .shape = {byte->address, 1, 1, 1},
        .ticket = {.stream = stream->id},
        .direction = SC_NO_DIRECTION,
        .kind = range.kind,
        .range = range.range,
        .origin = range.origin,
        .access = SC_ACCESS_ALL,
        .after = after,
        .unseen_waits = sc_track_find_unseen_before(&sc_track, stream->id, after),
        .unsure = byte->digest ? SC_UNSURE_UNJUDGED : 0,
        .digest = byte->digest,
    };
}

/* Called before a launch: reports copies and memsets of other streams that have still to write host
 * memory of which the kernel is given the address. With kernels=order the stream waits for them. */
static void judge_host(const struct sc_call *call, struct sc_stream_record *stream,
                       const struct sc_kernel_host *host, const struct sc_point *after)
{
    for (unsigned i = 0; i < host->count; i++) {
        struct sc_op_info info = describe(&host->bytes[i], call, stream, after);
        if (sc_track_may_conflict(&sc_track, info.range, info.direction, info.ticket.stream))
            sc_device_uses_judge_op(&info, call, stream, SC_HEALED_BY_EDGE);
    }
}

/* Called before a launch: compares, for the last time, sources of earlier copies in host memory
 * that the kernel may write. Later their change may be the kernel's, and correct. `in_order`: only
 * sources of copies that the launch comes after are compared; false: its order is not seen, so all
 * there. */
static void seal_host(const struct sc_call *call, struct sc_stream_record *stream,
                      const struct sc_kernel_host *host, const struct sc_point *after,
                      bool in_order)
{
    SC_OPS(overwritten);
    const struct sc_op_info later = {.ticket = {.stream = stream->id}, .after = after};
    if (host->count == 0)
        return;
    sc_track_seal_for_kernel(&sc_track, host, in_order ? &later : NULL, &overwritten);
    sc_hazards_report_overwritten(&overwritten, SC_CULPRIT_OF(call));
}

/* Records an accepted launch's uses of host memory, all with one ticket (place on the stream),
 * which is stored in `moment`. The mark (an event by which completion is learnt) is recorded at
 * once: later work may wait for the host, and the host for the kernel, so a later mark might never
 * occur. */
static void note_host(const struct sc_call *call, struct sc_stream_record *stream,
                      const struct sc_kernel_host *host, bool by_graph, struct sc_op_info *moment)
{
    struct sc_op_info infos[SC_KERNEL_HOST_MAX];
    struct sc_issue issue;
    unsigned count = 0;
    sc_issue_begin_uncaptured(&issue, call, stream);
    for (unsigned i = 0; i < host->count; i++) {
        struct sc_op_info *info = &infos[count];
        *info = describe(&host->bytes[i], call, stream, NULL);
        sc_device_uses_set_call_info(info, moment);
        info->by_graph = by_graph;
        if (!info->range) /* another thread has freed it meanwhile */
            continue;
        if (!sc_ops_is_unjudged(info))
            sc_issue_choose_guard(&issue, info);
        count++;
    }
    if (count == 0)
        return;
    sc_track_issue_one(&sc_track, infos, count);
    moment->ticket = infos[0].ticket;
    sc_guard_apply(SC_GUARD_OWN);
    /* A size that is always due: later work may wait for the host, and the host for the kernel, so
     * that a later mark might never occur. */
    sc_marks_issued(stream, SIZE_MAX, /*snapshotted=*/false, moment->ticks);
}

/* ---- launches ---- */

/* Does the library know any memory that an address among a kernel's parameters could lie in? If
 * not, the parameters need not be read. */
static bool is_memory_known(void)
{
    return sc_track_watches_device(&sc_track) || sc_track_has_any(&sc_track, SC_HAS_RANGES);
}

/* Reads the next addresses that the launch's kernels are given, as many as there is room for: those
 * of one kernel from its parameters, those of a graph from its exec's record. `index`: where to go
 * on; 0 at first; is moved. Returns false if there are no more. */
static bool read_addresses(struct sc_kernel_parameters *read, const struct sc_kernel_launch *of,
                           uint32_t *index)
{
    read->count = 0;
    if (of->launch && (*index)++ == 0)
        sc_kernel_parameters_read(read, of->launch);
    if (of->launch)
        return read->count > 0;
    SC_TRACK_SCOPE(track);
    const struct sc_exec *known = &sc_graphs_get(track.graphs, of->exec)->exec;
    uint32_t first = known->host_runs + known->device_runs;
    for (; read->count < SC_KERNEL_ADDRESSES_MAX && first + *index < known->runs.count; ++*index)
        read->addresses[read->count++] = known->runs.list[first + *index].shape.address;
    return read->count > 0;
}

/* Called before a launch, with option kernels: reads the addresses that its kernels are given,
 * stores those in host memory in `host`, judges the use of the memory there (unless `is_judged` is
 * false), and compares sources that the kernels may write. */
void sc_kernel_uses_judge(const struct sc_call *call, struct sc_stream_record *stream,
                          const struct sc_kernel_launch *of, struct sc_kernel_host *host)
{
    struct sc_kernel_parameters read;
    SC_KEEP_ERRNO();
    host->count = 0;
    for (uint32_t index = 0; is_memory_known() && read_addresses(&read, of, &index);) {
        add_host_bytes(&read, host);
        if (!of->is_judged)
            continue;
        keep_device_addresses(&read);
        judge_device(call, stream, &read, of->after);
    }
    if (of->is_judged)
        judge_host(call, stream, host, of->after);
    seal_host(call, stream, host, of->after,
              of->launch ? sc_track_find_unseen_before(&sc_track, stream->id, NULL).waits == 0
                         : of->in_order);
}

/* Records an accepted launch's uses of device memory, all with one ticket (place on the stream),
 * which is stored in `moment`. */
static void note_device(const struct sc_call *call, struct sc_stream_record *stream,
                        const struct sc_kernel_parameters *read, struct sc_op_info *moment)
{
    for (unsigned i = 0; i < read->count; i++) {
        const struct sc_device_use use = sc_device_use_named(read->addresses[i]);
        moment->ticket = sc_device_uses_note_all(&use, 1, call, stream, moment);
    }
}

/* Called behind an accepted launch, with option kernels: records what its kernels may do with the
 * host memory that sc_kernel_uses_judge has found, and with device memory. The addresses in device
 * memory are read once more, since a wrapper has no room to keep them. All uses share one ticket
 * (place on the stream); `moment` NULL: the launch has no other uses. */
void sc_kernel_uses_note(const struct sc_call *call, struct sc_stream_record *stream,
                         const struct sc_kernel_launch *of, const struct sc_kernel_host *host,
                         uint64_t place, struct sc_op_info *moment)
{
    struct sc_kernel_parameters read;
    struct sc_op_info own = {0};
    SC_KEEP_ERRNO();
    moment = moment ? moment : &own;
    if (host->count > 0)
        *moment = sc_device_uses_call_info(call, stream, place);
    note_host(call, stream, host, /*by_graph=*/!of->launch, moment);
    for (uint32_t index = 0;
         sc_track_watches_device(&sc_track) && read_addresses(&read, of, &index);) {
        keep_device_addresses(&read);
        if (read.count > 0 && moment->ticks == 0)
            *moment = sc_device_uses_call_info(call, stream, place);
        note_device(call, stream, &read, moment);
    }
}
