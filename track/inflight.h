/* Host memory that the device may be using: the ranges the driver knows, and the asynchronous
 * operations on them that the host does not yet know to be done.
 *
 * A range is an allocation or a registration. An operation lies on a range, or, where the driver
 * uses pageable memory after the call has returned (docs/driver.md), on none.
 * Operations retire when they are known done. One that is merely complete stays, because freeing
 * its buffer is still a race that timing hid; only SC_RETAINED_MAX of those are remembered, the
 * latest ones, so that a program which never synchronises does not grow us without bound.
 *
 * An operation equal to an earlier one (same rows, stream and direction) replaces it: whoever
 * waits for the later one has waited for the earlier.
 *
 * Locks: every function needs the owner's lock, except those that say "lock-free".
 */
#ifndef SC_TRACK_INFLIGHT_H
#define SC_TRACK_INFLIGHT_H

#include "track/grid.h"
#include "track/hazard.h"
#include "track/order.h"

enum { SC_RETAINED_MAX = 1 << 16 };

struct sc_range {
    struct sc_grid_node node; /* first: the grid's rule */
    _Atomic uint32_t kind;    /* enum sc_buffer_kind; atomic, as look-ups take no lock */
    _Atomic uint32_t context;
    _Atomic uint32_t op_count;
    _Atomic uint32_t writer_count; /* operations among them that write host memory */
    uint32_t first_op;
};

/* `rows` of `width_bytes`, `pitch_bytes` apart; a plain copy has one row. The hull is what is
 * looked up; rows decide whether two operations really touch the same bytes. */
struct sc_shape {
    uintptr_t address;
    size_t width_bytes;
    size_t pitch_bytes;
    size_t rows;
};

struct sc_op_info {
    const char *api; /* lives for ever */
    struct sc_shape shape;
    struct sc_ticket ticket;
    enum sc_direction direction;
    enum sc_buffer_kind kind;
    uint32_t stack;
    int32_t thread;
    uint64_t ticks; /* sc_ticks() at issue */
    uint32_t range; /* 0: none */
};

struct sc_op {
    struct sc_grid_node node; /* the hull */
    struct sc_op_info info;
    uint32_t key_next;
    uint32_t range_previous, range_next;
    uint32_t stream_previous, stream_next;
    bool retained; /* complete, kept for latent hazards */
};

struct sc_inflight {
    struct sc_order *order;
    struct sc_pool ranges;
    struct sc_pool ops;
    struct sc_grid range_grid;
    struct sc_grid op_grid;   /* operations on ranges that only the driver frees */
    struct sc_grid heap_grid; /* operations on memory that free() or munmap() could take away */
    uint32_t *keys;
    uint32_t busy; /* first stream with operations */
    uint32_t retained;
    uint32_t stray; /* id of a range record that stands for "no range" */
};

/* 0 or -ENOMEM. */
int sc_inflight_init(struct sc_inflight *inflight, struct sc_order *order);
void sc_inflight_destroy(struct sc_inflight *inflight);

/* A new range, or 0. It replaces what overlaps it: the driver has just said that this is valid. */
uint32_t sc_inflight_add_range(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                               enum sc_buffer_kind kind, uint32_t context);
/* Operations still on it stay, on no range. */
void sc_inflight_remove_range(struct sc_inflight *inflight, uint32_t range);

/* The range that contains the address, or 0. Lock-free but for SC_GRID_RETRY. */
uint32_t sc_inflight_range_of(struct sc_inflight *inflight, uintptr_t address);

static inline struct sc_range *sc_inflight_range(struct sc_inflight *inflight, uint32_t range)
{
    return sc_pool_at(&inflight->ranges, range);
}

static inline struct sc_op *sc_inflight_op(struct sc_inflight *inflight, uint32_t op)
{
    return sc_pool_at(&inflight->ops, op);
}

bool sc_direction_writes_host(enum sc_direction direction);

/* False: out of memory, the operation is not tracked. */
bool sc_inflight_add(struct sc_inflight *inflight, const struct sc_op_info *info);
void sc_inflight_drop(struct sc_inflight *inflight, uint32_t op);

/* Calls visit for each operation not known done whose hull overlaps the interval, until it returns
 * false. The visitor must not change anything. */
typedef bool sc_inflight_visit(void *context, uint32_t op);
void sc_inflight_overlaps(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                          sc_inflight_visit *visit, void *context);

/* Operations that conflict with `info` (they touch a common byte and one of the two writes host
 * memory) and that work issued on its stream now would not come after. */
void sc_inflight_conflicts(struct sc_inflight *inflight, const struct sc_op_info *info,
                           sc_inflight_visit *visit, void *context);

/* Retires what is known done, at most `limit` operations; true if there may be more. */
bool sc_inflight_retire(struct sc_inflight *inflight, unsigned limit);

/* `stream` has been seen complete up to its field `complete`: keeps or forgets what that covers. */
void sc_inflight_note_complete(struct sc_inflight *inflight, uint32_t stream);

bool sc_shapes_touch(const struct sc_shape *a, const struct sc_shape *b);
size_t sc_shape_hull_bytes(const struct sc_shape *shape);

#endif
