/* Uploads: small copies to the device from pinned memory, on a stream without ties. They are what
 * most programs copy most. The device reads a snapshot, and nothing in flight writes the source. So
 * little is to be looked at before the call, and little to be noted after it.
 *
 * Such an operation is one like others (track/inflight.h), and is found, compared and forgotten as
 * they are. */
#ifndef SC_TRACK_TRACK_UPLOADS_H
#define SC_TRACK_TRACK_UPLOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"

struct sc_issued;
struct sc_slot;
struct sc_staging;
struct SC_LOCK sc_track;

struct sc_upload {
    uint32_t stream; /* set by the caller, as are the source, its size and the target */
    uint32_t range;
    uintptr_t source, target;
    size_t size_bytes;
    struct sc_slot *slot; /* for the snapshot */
    /* Set after the call: what hazards tell of it. */
    const char *api;
    uint64_t ticks;
    uint32_t stack;
    int32_t thread;
};

/* Is the copy an upload, and does the stream keep a slot for it? Finds the range and takes the
 * slot, which the caller fills. False: nothing was done. Lock-free. */
bool sc_track_begin_upload(struct sc_track *track, struct sc_staging *staging,
                           struct sc_upload *upload) SC_EXCLUDES(*track);

/* The driver has accepted the upload. Returns the operation's number. */
uint64_t sc_track_issue_upload(struct sc_track *track, const struct sc_upload *upload,
                               struct sc_issued *issued) SC_EXCLUDES(*track);

#endif
