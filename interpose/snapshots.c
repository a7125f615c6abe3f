#include "interpose/snapshots.h"

#include <string.h>

#include "interpose/marks.h"
#include "interpose/process.h"

#include "track/poison.h"

static pthread_mutex_t create_lock = PTHREAD_MUTEX_INITIALIZER;

static bool make_readable(void *memory, size_t size_bytes)
{
    struct sc_relaxed relaxed = sc_relaxed_begin();
    sc_inside++;
    bool registered = sc_real.cuMemHostRegister_v2 &&
                      sc_real.cuMemHostRegister_v2(memory, size_bytes, 0) == CUDA_SUCCESS;
    sc_inside--;
    sc_relaxed_end(&relaxed);
    return registered;
}

/* The staging is tried for once: a driver that refuses will refuse again. */
static void create(struct sc_context *context)
{
    size_t max_bytes = sc_options.snapshot_max_bytes;
    size_t size_bytes = sc_staging_bytes(max_bytes);
    char *records = sc_pages_map(sizeof(struct sc_staging) + sc_staging_record_bytes(max_bytes));
    void *memory = records ? sc_pages_map(size_bytes) : NULL;
    if (memory && make_readable(memory, size_bytes)) {
        struct sc_staging *staging = (struct sc_staging *)(void *)records;
        sc_staging_init(staging, &sc_track.order, max_bytes, memory,
                        (struct sc_slot *)(void *)(records + sizeof *staging));
        context->staging_memory = memory;
        atomic_store_explicit(&context->staging, staging, memory_order_release);
    } else if (memory) {
        sc_pages_unmap(memory, size_bytes);
    }
}

static struct sc_staging *staging_of(struct sc_context *context)
{
    struct sc_staging *staging = atomic_load_explicit(&context->staging, memory_order_acquire);
    if (sc_likely(staging != NULL) ||
        atomic_load_explicit(&context->staging_tried, memory_order_relaxed))
        return staging;
    pthread_mutex_lock(&create_lock);
    if (!atomic_exchange(&context->staging_tried, true))
        create(context);
    pthread_mutex_unlock(&create_lock);
    return atomic_load_explicit(&context->staging, memory_order_acquire);
}

static bool is_small(const struct sc_op_info *op)
{
    return op->direction == SC_H2D && op->shape.rows == 1 && op->shape.width_bytes > 0 &&
           op->shape.width_bytes <= sc_options.snapshot_max_bytes && op->range != 0;
}

const void *sc_snapshots_take(struct sc_context *context, struct sc_op_info *op)
{
    if (sc_options.mode != SC_MODE_FIX || !op->stable || !is_small(op))
        return NULL;
    struct sc_staging *staging = staging_of(context);
    struct sc_slot *slot =
        staging ? sc_track_take_slot(&sc_track, staging, op->range, op->shape.width_bytes) : NULL;
    if (!slot)
        return NULL;
    memcpy(slot->bytes, (const void *)op->shape.address, op->shape.width_bytes);
    op->slot = slot;
    return slot->bytes;
}

void sc_snapshots_context_gone(struct sc_context *context)
{
    if (atomic_exchange(&context->staging, NULL))
        sc_pages_unmap(context->staging_memory, sc_staging_bytes(sc_options.snapshot_max_bytes));
}
