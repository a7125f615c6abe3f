#include "interpose/calls/kernel_uses.h"

#include <errno.h>
#include <stddef.h>

#include "interpose/calls/device_uses.h"
#include "track/hazard.h"
#include "track/shape.h"

#include "track/poison.h"

/* One address, as a use of device memory. */
static struct sc_device_uses use_at(uintptr_t address)
{
    struct sc_device_uses uses = {.count = 0};
    sc_device_uses_add(&uses, SC_NO_DIRECTION, true, &(struct sc_shape){address, 1, 1, 1}, NULL);
    return uses;
}

/* The addresses that are of device memory, each once. */
static void read_addresses(struct sc_kernel_parameters *read, const struct sc_launch *launch)
{
    sc_kernel_parameters_read(read, launch);
    read->count = sc_track_device_keep_known(&sc_track, read->addresses, read->count);
}

/* `after`: as sc_device_uses_judge_behind has it. */
static void judge(const struct sc_call *call, struct sc_stream_record *stream,
                  const struct sc_kernel_parameters *read, const struct sc_point *after)
{
    bool heals = sc_options.kernels == SC_KERNELS_ORDER;
    for (unsigned i = 0; i < read->count; i++) {
        struct sc_device_uses uses = use_at(read->addresses[i]);
        sc_device_uses_judge_behind(&uses, call, stream, heals ? SC_HEALED_BY_EDGE : SC_NOT_HEALED,
                                    after);
    }
}

void sc_kernel_uses_judge(const struct sc_call *call, const struct sc_launch *launch)
{
    struct sc_kernel_parameters read;
    int saved = errno;
    struct sc_stream_record *stream =
        sc_active() ? sc_streams_find(launch->stream, call->per_thread) : NULL;
    if (stream && !sc_streams_is_capturing(stream)) {
        read_addresses(&read, launch);
        judge(call, stream, &read, NULL);
    }
    errno = saved;
}

/* All uses of a launch are one operation, with the ticket of the first. */
static void note(const struct sc_call *call, struct sc_stream_record *stream,
                 const struct sc_kernel_parameters *read, struct sc_op_info *moment)
{
    for (unsigned i = 0; i < read->count; i++) {
        struct sc_device_uses uses = use_at(read->addresses[i]);
        moment->ticket = sc_device_uses_note_beside(&uses, call, stream, moment);
    }
}

void sc_kernel_uses_note(const struct sc_call *call, struct sc_stream_record *stream,
                         const struct sc_launch *launch, uint64_t place)
{
    struct sc_kernel_parameters read;
    int saved = errno;
    read_addresses(&read, launch);
    struct sc_op_info moment = {0};
    if (read.count > 0)
        moment = sc_device_uses_moment(call, stream, place);
    note(call, stream, &read, &moment);
    errno = saved;
}

/* ---- launches of graphs ---- */

/* As many as there is room for, from the index on, which goes on. False: there are no more. */
static bool read_next(struct sc_kernel_parameters *read, uint32_t exec, uint32_t *index)
{
    uint32_t count =
        sc_track_graph_addresses(&sc_track, exec, *index, read->addresses, SC_KERNEL_ADDRESSES_MAX);
    *index += count;
    read->count = sc_track_device_keep_known(&sc_track, read->addresses, count);
    return count > 0;
}

void sc_kernel_uses_judge_graph(const struct sc_call *call, struct sc_stream_record *stream,
                                uint32_t exec, const struct sc_point *after)
{
    struct sc_kernel_parameters read;
    int saved = errno;
    for (uint32_t index = 0; read_next(&read, exec, &index);)
        judge(call, stream, &read, after);
    errno = saved;
}

void sc_kernel_uses_note_graph(const struct sc_call *call, struct sc_stream_record *stream,
                               uint32_t exec, uint64_t place)
{
    struct sc_kernel_parameters read;
    int saved = errno;
    struct sc_op_info moment = {0};
    for (uint32_t index = 0; read_next(&read, exec, &index);) {
        if (read.count > 0 && moment.ticks == 0)
            moment = sc_device_uses_moment(call, stream, place);
        note(call, stream, &read, &moment);
    }
    errno = saved;
}
