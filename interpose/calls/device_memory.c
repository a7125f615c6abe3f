#include "interpose/calls/device_memory.h"

#include <errno.h>

#include "interpose/driver/made_here.h"
#include "interpose/streams/contexts.h"

#include "track/poison.h"

void sc_device_memory_note_made(const struct sc_call *call, uintptr_t address, size_t size_bytes)
{
    int saved = errno;
    if (!sc_active() || size_bytes == 0)
        return;
    struct sc_context *context = sc_contexts_of_memory();
    sc_track_device_allocated(&sc_track, address, size_bytes, context ? context->legacy : 0,
                              sc_made_here(call));
    errno = saved;
}
