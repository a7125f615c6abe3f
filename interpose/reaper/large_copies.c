#include "interpose/reaper/large_copies.h"

#include <stdatomic.h>

#include "common/now.h"
#include "common/op_kinds.h"
#include "common/own_pages.h"
#include "common/peek.h"
#include "common/unsure.h"
#include "interpose/base/process.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/deallocation.h"
#include "interpose/streams/marks.h"
#include "track/hold_kind.h"
#include "track/op_info.h"
#include "track/track_holds.h"
#include "track/track_ops.h"

#include "common/poison.h"

static _Atomic uint64_t late_reads;

void sc_large_copies_count_late(void)
{
    atomic_fetch_add_explicit(&late_reads, 1, memory_order_relaxed);
}

uint64_t sc_large_copies_driver_late(void)
{
    return atomic_load_explicit(&late_reads, memory_order_relaxed);
}

/* Copies a source's bytes into new pages, for the device to read instead. NULL: no memory, or the
 * bytes cannot be read. Keeps errno, since the caller is a call of the program's. */
void *sc_large_copies_make(uintptr_t address, size_t size_bytes)
{
    SC_KEEP_ERRNO();
    void *copy = sc_pages_map(size_bytes);
    if (copy && !sc_peek_anyhow(copy, address, size_bytes)) {
        sc_pages_unmap(copy, size_bytes);
        copy = NULL;
    }
    return copy;
}

/* Records with the tracker that the device reads the copy, so that its end is found as that of any
 * operation. It is unjudged: nothing that happens to the library's copy is a mistake of the
 * program. */
static void record_read(struct sc_op_info *read)
{
    struct sc_order_call none = {0};
    SC_ISSUED(issued);
    read->direction = SC_H2D;
    read->kind = SC_PAGEABLE;
    read->unsure = SC_UNSURE_UNJUDGED;
    sc_track_issue(&sc_track, &none, read, 1, &issued);
}

/* For a source that could not be copied: records the device's read of the source itself, and waits
 * until it is done, so that the program cannot change it too early. */
void sc_large_copies_await(struct sc_op_info *read)
{
    SC_KEEP_ERRNO();
    record_read(read);
    sc_marks_await(&read->ticket, sc_now_ns() + sc_options.stall_limit_ns);
}

/* Keeps a copy until the device has read it. It is freed as the program's memory would be: the
 * search finds the read in flight, and has the reaper's thread unmap the pages when that is
 * done. */
void sc_large_copies_keep(void *copy, size_t size_bytes, struct sc_op_info *read)
{
    const struct sc_culprit reader = {read->api, NULL, NULL};
    SC_KEEP_ERRNO();
    read->shape = (struct sc_shape){(uintptr_t)copy, size_bytes, size_bytes, 1};
    record_read(read);
    SC_DEALLOCATION request = {
        .address = (uintptr_t)copy,
        .size_bytes = size_bytes,
        .hold = true,
        .kind = SC_HOLD_UNMAP,
    };
    sc_deallocation_search(&request, &reader);
    if (!sc_deallocation_finish(&request, read->api)) {
        /* No hold was made, or stall_limit is over. While the device may read the copy it must
         * stay, so without an end of the read it is never freed. */
        if (sc_marks_await(&read->ticket, sc_now_ns() + sc_options.stall_limit_ns))
            sc_pages_unmap(copy, size_bytes);
    }
}
