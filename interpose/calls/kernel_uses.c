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

static void judge(const struct sc_call *call, struct sc_stream_record *stream,
                  const struct sc_launch *launch)
{
    struct sc_kernel_parameters read;
    bool heals = sc_options.kernels == SC_KERNELS_ORDER;
    read_addresses(&read, launch);
    for (unsigned i = 0; i < read.count; i++) {
        struct sc_device_uses uses = use_at(read.addresses[i]);
        sc_device_uses_judge(&uses, call, stream, heals ? SC_HEALED_BY_EDGE : SC_NOT_HEALED);
    }
}

void sc_kernel_uses_judge(const struct sc_call *call, const struct sc_launch *launch)
{
    int saved = errno;
    struct sc_stream_record *stream =
        sc_active() ? sc_streams_find(launch->stream, call->per_thread) : NULL;
    if (stream && !sc_streams_is_capturing(stream))
        judge(call, stream, launch);
    errno = saved;
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
    for (unsigned i = 0; i < read.count; i++) {
        struct sc_device_uses uses = use_at(read.addresses[i]);
        moment.ticket = sc_device_uses_note_beside(&uses, call, stream, &moment);
    }
    errno = saved;
}
