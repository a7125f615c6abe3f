#include "track/comparisons.h"

#include <string.h>
#include <time.h>

#include "common/kernel.h"
#include "track/order.h"
#include "track/order_calls.h"
#include "track/source_copies.h"
#include "track/staging.h"

#include "common/poison.h"

enum { MOST_BYTES = 1 << 20, LOOKS_MAX = 1024, SPINS = 100 };

/* Is it worth comparing the operation's source with its snapshot (the copy that the device reads)
 * without the lock? It has to be large, contiguous and directly readable, changed by nobody but the
 * host (`stable`), and neither compared already nor being compared by another thread. */
static bool is_worth_comparing_unlocked(struct sc_inflight *inflight, const struct sc_op *op)
{
    const struct sc_op_info *info = &op->info;
    size_t size_bytes = sc_shape_hull_bytes(&info->shape);
    return info->slot && info->range && info->stable && !op->looked &&
           !atomic_load_explicit(&op->comparing, memory_order_relaxed) &&
           size_bytes >= SC_COMPARISONS_MIN_BYTES && sc_shape_is_whole(&info->shape, &info->fold) &&
           sc_source_copies_can_read(inflight, info, info->shape.address, size_bytes);
}

/* Lists the operation, and marks it as being compared: who wants to drop it, or to protect its
 * source against reading, waits then. */
static void begin_comparison(struct sc_inflight *inflight, struct sc_comparisons *comparisons,
                             struct sc_op *op)
{
    const struct sc_op_info *info = &op->info;
    atomic_fetch_add_explicit(&inflight->comparing, 1, memory_order_relaxed);
    atomic_store_explicit(&op->comparing, true, memory_order_relaxed);
    comparisons->of[comparisons->count++] = (struct sc_comparison){
        .op = op,
        .ticket = info->ticket,
        .source = (const void *)info->shape.address,
        .copy = info->slot->bytes,
        .size_bytes = sc_shape_hull_bytes(&info->shape),
    };
}

/* Sets the flag by which a wait for the stream sees whether it has to look for large sources
 * (memory that copies read) to compare before it takes the lock. */
static void set_has_large_sources(struct sc_stream *stream, bool has_some)
{
    atomic_store_explicit(&stream->has_large_sources, has_some, memory_order_relaxed);
}

/* Lists operations of the stream that the point (work issued so far) covers (they are done), in
 * their order, up to a limit: others wait for what is listed. If some were not looked at, the
 * stream's flag has_large_sources stays set, and the caller comes again. */
static void list_stream(struct sc_inflight *inflight, struct sc_stream *stream,
                        const struct sc_point *point, struct sc_comparisons *comparisons)
{
    size_t left_bytes = MOST_BYTES;
    unsigned looks = 0;
    set_has_large_sources(stream, false);
    for (uint32_t id = stream->first_op; id;) {
        struct sc_op *op = sc_inflight_op(inflight, id);
        size_t size_bytes = sc_shape_hull_bytes(&op->info.shape);
        if (!sc_order_point_covers(point, &op->info.ticket) ||
            comparisons->count == SC_COMPARISONS_MAX || size_bytes > left_bytes ||
            ++looks > LOOKS_MAX) {
            set_has_large_sources(stream, true);
            return;
        }
        if (is_worth_comparing_unlocked(inflight, op)) {
            begin_comparison(inflight, comparisons, op);
            left_bytes -= size_bytes;
        }
        id = op->stream_next;
    }
}

/* Lists large sources (memory that copies read) of all operations that the point (the work that the
 * host has waited for) covers, and finds out anew whether any stream has large sources left. */
static void list_all_streams(struct sc_inflight *inflight, const struct sc_point *point,
                             struct sc_comparisons *comparisons)
{
    bool any = false;
    for (uint32_t id = inflight->busy; id;) {
        struct sc_stream *stream = sc_order_stream(inflight->order, id);
        if (atomic_load_explicit(&stream->has_large_sources, memory_order_relaxed) &&
            comparisons->count < SC_COMPARISONS_MAX)
            list_stream(inflight, stream, point, comparisons);
        any |= atomic_load_explicit(&stream->has_large_sources, memory_order_relaxed);
        id = stream->busy_next;
    }
    atomic_store_explicit(&inflight->order->has_large_sources, any, memory_order_relaxed);
}

/* The host has waited for the point (work issued so far): lists large sources (memory that copies
 * read) that can be compared before the lock is taken to note that. Mostly the point is of one
 * stream, and only that one is looked at. */
void sc_comparisons_begin(struct sc_inflight *inflight, const struct sc_point *point,
                          struct sc_comparisons *comparisons)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    comparisons->count = 0;
    if (sc_order_is_of_one_stream(point))
        list_stream(inflight, sc_order_stream(inflight->order, point->stream), point, comparisons);
    else
        list_all_streams(inflight, point, comparisons);
}

/* An equal operation is about to replace this one: lists its source, if it is large, to be compared
 * before. */
void sc_comparisons_begin_equal(struct sc_inflight *inflight, const struct sc_op_info *info,
                                struct sc_comparisons *comparisons)
{
    uint32_t id = sc_inflight_find_equal(inflight, info);
    comparisons->count = 0;
    if (id && is_worth_comparing_unlocked(inflight, sc_inflight_op(inflight, id)))
        begin_comparison(inflight, comparisons, sc_inflight_op(inflight, id));
}

/* Compares the listed sources (memory that copies read) with their snapshots (copies that the
 * device reads), without the lock. After each comparison the operation may be dropped by others, so
 * its record is not touched again. */
void sc_comparisons_make(struct sc_inflight *inflight, struct sc_comparisons *comparisons)
{
    for (unsigned i = 0; i < comparisons->count; i++) {
        struct sc_comparison *one = &comparisons->of[i];
        one->differs = memcmp(one->source, one->copy, one->size_bytes) != 0;
        atomic_store_explicit(&one->op->comparing, false, memory_order_release);
        atomic_fetch_sub_explicit(&inflight->comparing, 1, memory_order_release);
    }
}

/* Is the record still of the operation that was compared? Another thread may have issued it again,
 * with another snapshot (the copy that the device reads), or dropped it, before the lock was taken
 * again. */
static bool is_same_issue(const struct sc_comparison *one)
{
    const struct sc_op_info *info = &one->op->info;
    return info->ticket.stream == one->ticket.stream && info->ticket.number == one->ticket.number &&
           info->slot && info->slot->bytes == one->copy;
}

/* Stores the results of comparisons of sources with their snapshots (the copies that the device
 * reads), so that they are not made again under the lock. Operations that were issued again
 * meanwhile are left out: the result was of other bytes. */
void sc_comparisons_end(struct sc_inflight *inflight, const struct sc_comparisons *comparisons)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    for (unsigned i = 0; i < comparisons->count; i++) {
        const struct sc_comparison *one = &comparisons->of[i];
        if (!is_same_issue(one))
            continue;
        one->op->looked = true;
        one->op->differs = one->differs;
    }
}

/* Forgets results of comparisons that say "equal": the host may change the source after them, so it
 * is compared again when the copy is done. One that differs was overwritten, and that stays so. */
void sc_comparisons_discard(const struct sc_comparisons *comparisons)
{
    for (unsigned i = 0; i < comparisons->count; i++)
        comparisons->of[i].op->looked &= comparisons->of[i].op->differs;
}

/* One round of a wait for another thread, under the lock. Spins at first, and then sleeps, so that
 * a thread of lower priority gets on. The sleep is a system call of our own, past the hooks. */
static void wait_a_moment(unsigned round)
{
    const struct timespec moment = {.tv_nsec = 20 * 1000};
    if (round >= SPINS)
        sc_kernel_call(SYS_nanosleep, &moment, NULL);
}

/* Waits, under the lock, until no thread compares the operation's source: some tens of microseconds
 * at most. */
void sc_comparisons_await_op(struct sc_op *op)
{
    for (unsigned i = 0; atomic_load_explicit(&op->comparing, memory_order_acquire); i++)
        wait_a_moment(i);
}

/* Waits, under the lock, until no thread compares any source: memory is about to go, or to become
 * unreadable. */
void sc_comparisons_await_all(struct sc_inflight *inflight)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    for (unsigned i = 0; atomic_load_explicit(&inflight->comparing, memory_order_acquire); i++)
        wait_a_moment(i);
}
