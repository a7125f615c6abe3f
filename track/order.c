#include "track/order.h"

#include <string.h>

#include "common/checks.h"
#include "common/trace.h"
#include "track/consistency.h"
#include "track/order_calls.h"
#include "track/unseen.h"

#include "common/poison.h"

struct entry {
    uint32_t stream;
    uint64_t number;
    /* if `stream` is a legacy one (a context's default stream): the place of its last call among
     * its calls */
    uint64_t call;
};

struct sc_clock {
    uint32_t references;
    uint32_t capacity;
    uint32_t count;
    struct entry entries[];
};

/* Reads a counter under the lock, which all writers have. Counters are atomic for readers without
 * the lock. */
static uint64_t read_relaxed(_Atomic uint64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

/* Sets a counter to at least this value. The store is a release: who reads it without the lock also
 * sees what led to it. */
static void raise_value(_Atomic uint64_t *value, uint64_t at_least)
{
    if (read_relaxed(value) < at_least)
        atomic_store_explicit(value, at_least, memory_order_release);
}

/* The size of a clock (a vector clock: a number for each of several streams) with room for so many
 * entries. */
static size_t clock_bytes(uint32_t capacity)
{
    return sizeof(struct sc_clock) + capacity * sizeof(struct entry);
}

/* Makes a clock (a number for each of several streams) without entries and with one reference.
 * Returns NULL if there is no memory, and counts that: what lacks a clock knows less order than
 * there is. */
static struct sc_clock *new_clock(struct sc_order *order, uint32_t capacity)
{
    struct sc_clock *clock = sc_arena_alloc(&order->arena, clock_bytes(capacity));
    if (clock)
        *clock = (struct sc_clock){.references = 1, .capacity = capacity};
    else
        order->lacked++;
    return clock;
}

/* Takes a reference to the clock (what was waited for on other streams), which may be NULL. Clocks
 * never change once they are shared, so many points (work issued so far) have one in common. */
static struct sc_clock *retain_clock(struct sc_clock *clock)
{
    SC_ASSERT(!clock || clock->references > 0);
    if (clock)
        clock->references++;
    return clock;
}

/* Releases a reference to the clock (what was waited for on other streams), which may be NULL, and
 * frees it with the last one. */
static void drop_clock(struct sc_order *order, struct sc_clock *clock)
{
    SC_ASSERT(!clock || (clock->references > 0 && clock->count <= clock->capacity));
    if (clock && --clock->references == 0)
        sc_arena_free(&order->arena, clock, clock_bytes(clock->capacity));
}

/* Returns the clock's entry for the stream (what was waited for there), by a binary search; an
 * empty one if it has none. */
static struct entry find_entry(const struct sc_clock *clock, uint32_t stream)
{
    uint32_t low = 0;
    uint32_t high = clock ? clock->count : 0;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (clock->entries[middle].stream < stream)
            low = middle + 1;
        else
            high = middle;
    }
    if (clock && low < clock->count && clock->entries[low].stream == stream)
        return clock->entries[low];
    return (struct entry){0};
}

/* Does the host know the entry's operations to be done? Such an entry orders nothing, so it is left
 * out to keep clocks (what was waited for on other streams) short. */
static bool is_entry_known(struct sc_order *order, const struct entry *entry)
{
    struct sc_stream *stream = sc_order_stream(order, entry->stream);
    return entry->number <= read_relaxed(&stream->done) &&
           entry->call <= read_relaxed(&stream->done_calls);
}

/* Does the host know everything in the clock (what was waited for on other streams) to be done? */
static bool is_clock_known(struct sc_order *order, const struct sc_clock *clock)
{
    for (uint32_t i = 0; clock && i < clock->count; i++)
        if (!is_entry_known(order, &clock->entries[i]))
            return false;
    return true;
}

/* Adds an entry at the end of a clock (what was waited for on other streams) that is being made;
 * entries are sorted by stream. Leaves it out if the host knows its operations to be done: it
 * orders nothing then, and clocks stay short. */
static void append_entry(struct sc_order *order, struct sc_clock *clock, struct entry entry)
{
    SC_ASSERT(clock->count < clock->capacity);
    SC_ASSERT(!clock->count || clock->entries[clock->count - 1].stream < entry.stream);
    if (!is_entry_known(order, &entry))
        clock->entries[clock->count++] = entry;
}

static uint64_t larger(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

/* Makes a clock (what was waited for on other streams) that has, for each stream, the larger number
 * of either clock. `left` and `right` may be NULL, which means empty. Returns NULL if there is no
 * memory. */
static struct sc_clock *merge_clocks(struct sc_order *order, const struct sc_clock *left,
                                     const struct sc_clock *right)
{
    uint32_t left_count = left ? left->count : 0;
    uint32_t right_count = right ? right->count : 0;
    struct sc_clock *result = new_clock(order, left_count + right_count);
    uint32_t i = 0;
    uint32_t j = 0;
    while (result && (i < left_count || j < right_count)) {
        if (j == right_count ||
            (i < left_count && left->entries[i].stream < right->entries[j].stream)) {
            append_entry(order, result, left->entries[i++]);
        } else if (i == left_count || right->entries[j].stream < left->entries[i].stream) {
            append_entry(order, result, right->entries[j++]);
        } else {
            const struct entry *one = &left->entries[i++];
            const struct entry *other = &right->entries[j++];
            append_entry(order, result,
                         (struct entry){one->stream, larger(one->number, other->number),
                                        larger(one->call, other->call)});
        }
    }
    return result;
}

/* Does `clock` cover all entries of `addition` that the host does not know to be done? Both are
 * clocks (what was waited for on other streams: a number for each), sorted by stream. */
static bool covers_clock(struct sc_order *order, const struct sc_clock *clock,
                         const struct sc_clock *addition)
{
    uint32_t count = clock ? clock->count : 0;
    uint32_t in_clock = 0;
    for (uint32_t i = 0; i < addition->count; i++) {
        const struct entry *entry = &addition->entries[i];
        while (in_clock < count && clock->entries[in_clock].stream < entry->stream)
            in_clock++;
        bool has = in_clock < count && clock->entries[in_clock].stream == entry->stream &&
                   clock->entries[in_clock].number >= entry->number &&
                   clock->entries[in_clock].call >= entry->call;
        if (!has && !is_entry_known(order, entry))
            return false;
    }
    return true;
}

/* Merges `addition` into *clock (both say what was waited for on other streams). Returns false if
 * there is no memory; *clock is unchanged then. Mostly *clock has all of it, and no new one is
 * made. */
static bool merge_into(struct sc_order *order, struct sc_clock **clock,
                       const struct sc_clock *addition)
{
    if (!addition || addition == *clock || covers_clock(order, *clock, addition))
        return true;
    struct sc_clock *merged = merge_clocks(order, *clock, addition);
    if (!merged)
        return false;
    drop_clock(order, *clock);
    *clock = merged;
    return true;
}

/* Sets or clears a tie of the stream: a bit by which its next call sees, without the lock, that it
 * may come after other streams' work. */
static void update_tie(struct sc_stream *stream, enum sc_ties tie, bool is_tied)
{
    uint32_t ties = atomic_load_explicit(&stream->front.ties, memory_order_relaxed);
    ties = is_tied ? ties | tie : ties & ~(uint32_t)tie;
    atomic_store_explicit(&stream->front.ties, ties, memory_order_release);
}

/* Marks the stream as having had work since walks last found it idle, so that the next wait for the
 * whole context looks at it. Streams beyond the bits are always looked at. */
static void mark_live(struct sc_order *order, struct sc_stream *stream)
{
    if (stream->is_live)
        return;
    stream->is_live = true;
    if (stream->id < SC_ORDER_LIVE_MAX)
        order->live[stream->id / 64] |= UINT64_C(1) << stream->id % 64;
}

/* Sets what is due to the stream (what its context was told to wait for and the stream has still to
 * join), and the bit by which the stream's calls notice that. */
static void replace_due(struct sc_stream *stream, struct sc_clock *due)
{
    stream->due = due;
    update_tie(stream, SC_TIE_DUE, due);
}

/* Merges `addition` into *clock (what was waited for on other streams). If *clock is NULL, it
 * becomes `addition`, even if that has no entries: a clock that is not NULL says that something is
 * due (told to be waited for, and not joined yet). */
static void merge_or_set(struct sc_order *order, struct sc_clock **clock, struct sc_clock *addition)
{
    if (*clock)
        merge_into(order, clock, addition);
    else
        *clock = retain_clock(addition);
}

/* Counts a change, since the point (work issued so far) of a whole context may say more from now
 * on: whoever has remembered such a point computes it anew. */
static void count_context_change(struct sc_order *order)
{
    atomic_store_explicit(&order->changes, read_relaxed(&order->changes) + 1, memory_order_release);
}

/* Makes the clock (what was waited for on other streams) due to the stream: the driver lets a
 * stream know nothing of a wait of its context before the stream's next operation, which joins the
 * clock. */
static void make_due(struct sc_order *order, struct sc_stream *stream, struct sc_clock *addition)
{
    struct sc_clock *due = stream->due;
    merge_or_set(order, &due, addition);
    replace_due(stream, due);
    mark_live(order, stream);
    count_context_change(order);
}

/* The stream has joined what was due to it (what its context was told to wait for): drops that. */
static void forget_due(struct sc_order *order, struct sc_stream *stream)
{
    drop_clock(order, stream->due);
    replace_due(stream, NULL);
}

/* Room for a clock of two entries on the caller's stack: those of a point's own stream and of its
 * legacy stream. */
union pair {
    struct sc_clock head;
    char room[sizeof(struct sc_clock) + 2 * sizeof(struct entry)];
};

/* Makes a clock of the point's own numbers (of its stream, and of the legacy stream), sorted by
 * stream, in `pair` on the caller's stack: so they are merged and compared as any clock is, without
 * memory. */
static const struct sc_clock *own_entries(const struct sc_point *point, union pair *pair)
{
    struct entry own = {point->stream, point->number, point->legacy ? 0 : point->call};
    struct entry legacy = {point->legacy, point->legacy_number, point->call};
    struct entry *entries = pair->head.entries;
    pair->head.count = 0;
    if (own.stream && (!legacy.stream || own.stream < legacy.stream))
        entries[pair->head.count++] = own;
    if (legacy.stream)
        entries[pair->head.count++] = legacy;
    if (own.stream && legacy.stream && own.stream > legacy.stream)
        entries[pair->head.count++] = own;
    return &pair->head;
}

/* Merges the whole point (work issued so far) into *clock: its own numbers, and the clock (what was
 * waited for on other streams) of what it has joined. Returns false if there is no memory. */
static bool merge_point(struct sc_order *order, struct sc_clock **clock,
                        const struct sc_point *point)
{
    union pair pair;
    return merge_into(order, clock, own_entries(point, &pair)) &&
           merge_into(order, clock, point->joined);
}

/* Initialises the order of streams: which work comes after which. */
void sc_order_init(struct sc_order *order)
{
    memset(order, 0, sizeof *order);
    sc_pool_init(&order->streams, sizeof(struct sc_stream));
    sc_unseen_init(order);
}

/* Gives the id of a removed stream to a new one. Its numbers go on after those of the former
 * stream, all of which count as done: so a point (work issued so far) that names the former stream
 * never covers work of the new one. */
static uint32_t take_spare(struct sc_order *order)
{
    uint32_t id = order->spare;
    struct sc_stream *stream = sc_order_stream(order, id);
    SC_ASSERT(sc_order_is_spare(stream) && !stream->joined && !stream->gate);
    uint64_t issued = read_relaxed(&stream->front.issued) + 1;
    uint64_t calls = read_relaxed(&stream->calls);
    atomic_store_explicit(&stream->front.issued, issued, memory_order_release);
    order->spare = stream->next_spare;
    stream->next_spare = 0;
    stream->removed = false;
    atomic_store_explicit(&stream->seen_version, 0, memory_order_relaxed);
    stream->handle = 0;
    atomic_store_explicit(&stream->origin, 0, memory_order_relaxed);
    stream->primary = 0;
    stream->device = 0;
    raise_value(&stream->done, issued);
    raise_value(&stream->complete, issued);
    raise_value(&stream->done_calls, calls);
    atomic_store_explicit(&stream->touched, 0, memory_order_relaxed);
    atomic_store_explicit(&stream->touched_calls, 0, memory_order_relaxed);
    atomic_store_explicit(&stream->known_changes, UINT64_MAX, memory_order_relaxed);
    return id;
}

/* Returns the default (legacy) stream of the stream's context, which keeps what belongs to the
 * context. */
static struct sc_stream *legacy_stream_of(struct sc_order *order, const struct sc_stream *stream)
{
    return sc_order_stream(order, stream->context);
}

/* A new stream comes after all that its context, and the primary context of a green one, were told
 * to wait for (their `gate`): its first operation joins that. */
static void make_due_by_contexts(struct sc_order *order, struct sc_stream *stream)
{
    const struct sc_stream *legacy = legacy_stream_of(order, stream);
    make_due(order, stream, legacy->gate);
    if (legacy->primary)
        make_due(order, stream, sc_order_stream(order, legacy->primary)->gate);
}

/* Adds a stream and returns its id; 0: no memory. A blocking stream and its context's legacy
 * (default) stream get ties (reasons why their next calls may come after others' work), as the
 * calls of each have to look at the other's from now on. The record of the legacy stream stays as
 * long as streams of its context, whose tickets (stream and number) name it. */
uint32_t sc_order_add(struct sc_order *order, enum sc_stream_kind kind, uint32_t context)
{
    SC_ASSERT_GUARDED(&order->streams);
    SC_TRACE("stream-add kind context", kind, context);
    uint32_t id = order->spare ? take_spare(order) : sc_pool_take(&order->streams);
    if (!id)
        return 0;
    struct sc_stream *stream = sc_order_stream(order, id);
    stream->id = id;
    stream->kind = kind;
    mark_live(order, stream);
    count_context_change(order);
    update_tie(stream, SC_TIE_SIGNALS, sc_order_attends(order, SC_ATTENDS_SIGNALS));
    stream->context = kind == SC_STREAM_LEGACY ? id : context;
    update_tie(stream, SC_TIE_KIND, kind == SC_STREAM_BLOCKING);
    if (kind == SC_STREAM_BLOCKING)
        update_tie(legacy_stream_of(order, stream), SC_TIE_KIND, true);
    if (kind != SC_STREAM_LEGACY) {
        sc_order_reference(order, context);
        make_due_by_contexts(order, stream);
    }
    SC_CHECK(sc_consistency_of_order(order, id));
    return id;
}

/* The host knows all that the stream had joined from other streams to be done, so that it orders
 * nothing: the stream's point (work issued so far) becomes a mere number again, which is read
 * without the lock. */
static void forget_joined(struct sc_order *order, struct sc_stream *stream)
{
    drop_clock(order, stream->joined);
    stream->joined = NULL;
    update_tie(stream, SC_TIE_JOINED, false);
}

/* Drops what a removed stream had waited for on others. That of a non-blocking stream goes to its
 * context, since a wait for the context still covers it. */
static void orphan_joined(struct sc_order *order, struct sc_stream *stream)
{
    if (stream->kind == SC_STREAM_NONBLOCKING)
        merge_into(order, &legacy_stream_of(order, stream)->orphaned, stream->joined);
    forget_joined(order, stream);
}

/* If the stream was removed and nothing names its id any more, frees its clocks (what was waited
 * for on other streams) and lists the id to be used again. The context's record loses a reference,
 * and may become spare itself. */
static void make_spare_if_unused(struct sc_order *order, uint32_t id)
{
    struct sc_stream *stream = sc_order_stream(order, id);
    if (!stream->removed || stream->references)
        return;
    orphan_joined(order, stream);
    forget_due(order, stream);
    drop_clock(order, stream->gate);
    drop_clock(order, stream->awaited);
    drop_clock(order, stream->behind);
    drop_clock(order, stream->orphaned);
    stream->behind = NULL;
    stream->gate = NULL;
    stream->awaited = NULL;
    stream->orphaned = NULL;
    SC_ASSERT(!stream->first_op && order->spare != id);
    stream->next_spare = order->spare;
    order->spare = id;
    if (stream->kind != SC_STREAM_LEGACY)
        sc_order_unreference(order, stream->context);
}

/* The stream's handle is destroyed. Its id lives on while anything names it. A second removal does
 * nothing. A non-blocking stream's clock goes at once: streams that come and go, each behind the
 * one before, have clocks of one entry for each of them. */
void sc_order_remove(struct sc_order *order, uint32_t id)
{
    SC_ASSERT_GUARDED(&order->streams);
    SC_TRACE("stream-remove stream", id);
    struct sc_stream *stream = sc_order_stream(order, id);
    if (stream->removed)
        return;
    stream->removed = true;
    if (stream->kind == SC_STREAM_NONBLOCKING)
        orphan_joined(order, stream);
    make_spare_if_unused(order, id);
}

/* Releases one name of the stream's id. With the last one a removed stream's id may be used again.
 */
void sc_order_unreference(struct sc_order *order, uint32_t id)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_stream *stream = sc_order_stream(order, id);
    SC_ASSERT(stream->references > 0);
    stream->references--;
    if (stream->removed)
        make_spare_if_unused(order, id);
}

/* ---- calls ---- */

/* Counts a change of the stream's point (what a wait for it would cover), so that
 * sc_order_is_all_known and sc_order_is_context_known are false until the host has waited again. */
static void count_change(struct sc_order *order, struct sc_stream *stream)
{
    mark_live(order, stream);
    count_context_change(order);
    atomic_store_explicit(&stream->changes, read_relaxed(&stream->changes) + 1,
                          memory_order_release);
}

/* Returns the number of the stream's next operation, and counts it. */
static uint64_t draw_number(struct sc_order *order, struct sc_stream *stream)
{
    uint64_t number = read_relaxed(&stream->front.issued) + 1;
    atomic_store_explicit(&stream->front.issued, number, memory_order_release);
    count_change(order, stream);
    return number;
}

/* Merges the clock (what was waited for on other streams) into what the stream has joined (waited
 * for on other streams). Returns false if there is no memory. Counts nothing if the stream had
 * joined all of it. A legacy stream counts versions, by which the end of a call tells whether its
 * blocking streams have it yet. */
static bool join_clock(struct sc_order *order, struct sc_stream *stream,
                       const struct sc_clock *clock)
{
    const struct sc_clock *former = stream->joined;
    if (!merge_into(order, &stream->joined, clock))
        return false;
    if (stream->joined == former)
        return true;
    update_tie(stream, SC_TIE_JOINED, true);
    count_change(order, stream);
    if (stream->kind == SC_STREAM_LEGACY)
        stream->joined_version++;
    return true;
}

/* Orders the legacy stream's next call after what its blocking streams have waited for, as the
 * driver does. Kept for later if there is no memory. */
static void join_awaited(struct sc_order *order, struct sc_stream *legacy)
{
    if (!legacy->awaited || !join_clock(order, legacy, legacy->awaited))
        return;
    drop_clock(order, legacy->awaited);
    legacy->awaited = NULL;
}

/* Has the blocking stream joined all calls of its legacy stream that have ended? Then its next call
 * is ordered after nothing new, and need not take the lock. */
static bool has_joined_legacy(struct sc_stream *stream, struct sc_stream *legacy)
{
    return read_relaxed(&stream->touched) == read_relaxed(&legacy->front.issued) &&
           read_relaxed(&stream->touched_calls) == read_relaxed(&legacy->ended) &&
           read_relaxed(&stream->seen_version) == read_relaxed(&legacy->behind_version);
}

/* Does the host know all work of the legacy stream that the blocking stream comes after to be done?
 * Then a wait for the stream proves nothing about the legacy stream. */
static bool is_joined_legacy_known(struct sc_stream *stream, struct sc_stream *legacy)
{
    return read_relaxed(&stream->touched) <= read_relaxed(&legacy->done) &&
           read_relaxed(&stream->touched_calls) <= read_relaxed(&legacy->done_calls);
}

/* Asked without the lock before each call on a stream that has a tie (a reason why its next call
 * may come after other work). */
bool sc_order_must_begin_call(struct sc_order *order, uint32_t id)
{
    return sc_order_is_tied(order, id, SC_TIE_KIND | SC_TIE_DUE);
}

/* May the stream's next call come after other streams' work, for one of these reasons (`ties`)? A
 * blocking stream has the reason SC_TIE_KIND for ever, which binds its next call only if the legacy
 * stream has had a call since. With SC_TIE_JOINED the host must also know the legacy stream's work
 * to be done. */
bool sc_order_is_tied(struct sc_order *order, uint32_t id, unsigned ties)
{
    struct sc_stream *stream = sc_order_stream(order, id);
    if (!sc_stream_front_has_ties(&stream->front, ties))
        return false;
    if (stream->kind != SC_STREAM_BLOCKING)
        return true;
    struct sc_stream *legacy = legacy_stream_of(order, stream);
    if (!has_joined_legacy(stream, legacy) ||
        (ties & SC_TIE_JOINED && !is_joined_legacy_known(stream, legacy)))
        return true;
    /* Another thread's call may have made has_joined_legacy true just now. It set the tie of what
     * it joined before that, so ties are read again behind it. */
    atomic_thread_fence(memory_order_acquire);
    return sc_stream_front_has_ties(&stream->front, ties & ~(unsigned)SC_TIE_KIND);
}

/* A call on a legacy stream begins: it gets the next place among that stream's calls, and keeps
 * what the stream has joined by now. Work on blocking streams will come after that when the call
 * has ended. */
static void begin_legacy_call(struct sc_order *order, struct sc_stream *stream,
                              struct sc_order_call *call)
{
    join_awaited(order, stream);
    call->is_legacy = true;
    call->place = read_relaxed(&stream->calls) + 1;
    atomic_store_explicit(&stream->calls, call->place, memory_order_relaxed);
    call->joined = retain_clock(stream->joined);
    call->version = stream->joined_version;
}

/* A call on a blocking stream begins: notes which calls of the legacy stream have ended, and what
 * those had joined. Others that end meanwhile overlap with this call, so no order with them is
 * known. */
static void begin_blocking_call(struct sc_order *order, struct sc_stream *stream,
                                struct sc_order_call *call)
{
    struct sc_stream *legacy = legacy_stream_of(order, stream);
    call->place = read_relaxed(&legacy->ended);
    call->legacy_number = read_relaxed(&legacy->front.issued);
    call->joined = retain_clock(legacy->behind);
    call->version = read_relaxed(&legacy->behind_version);
}

/* Notes what the call comes after, before the driver is called. What another thread does until the
 * call has ended is not in it. Streams of other kinds, and a legacy stream that no blocking stream
 * stands beside, come after their own work and what is due alone. */
void sc_order_begin_call(struct sc_order *order, uint32_t id, struct sc_order_call *call)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_stream *stream = sc_order_stream(order, id);
    *call = (struct sc_order_call){.stream = id, .due = retain_clock(stream->due)};
    if (sc_order_is_among_blocking(stream))
        begin_legacy_call(order, stream, call);
    else if (stream->kind == SC_STREAM_BLOCKING)
        begin_blocking_call(order, stream, call);
}

/* The call (a launch, a wait) makes its stream wait for the point (work issued on another stream):
 * noted until the call has ended. */
void sc_order_call_waits(struct sc_order *order, struct sc_order_call *call,
                         const struct sc_point *point)
{
    SC_ASSERT_GUARDED(&order->streams);
    merge_point(order, &call->waited, point);
}

/* Has the stream join the clock (what was waited for on other streams). The legacy stream's calls
 * come after all work of blocking streams, so what a blocking stream joins is `awaited` by the
 * legacy stream's next call. */
static bool join_and_hand_on(struct sc_order *order, struct sc_stream *stream,
                             const struct sc_clock *clock)
{
    return join_clock(order, stream, clock) &&
           (stream->kind != SC_STREAM_BLOCKING ||
            merge_into(order, &legacy_stream_of(order, stream)->awaited, clock));
}

/* The call has ended: its stream has joined what was due when it began (a wait of the whole
 * context). What became due since is left for the next call. */
static void join_due(struct sc_order *order, struct sc_stream *stream,
                     const struct sc_order_call *call)
{
    if (call->due && join_and_hand_on(order, stream, call->due) && stream->due == call->due)
        forget_due(order, stream);
}

/* Orders later work on blocking streams after the clock (what was waited for on other streams),
 * which is merged into what is `behind` the legacy stream. The version tells blocking streams that
 * they have something to join. Returns false if there is no memory. */
static bool order_blocking_after(struct sc_order *order, struct sc_stream *legacy,
                                 const struct sc_clock *clock)
{
    struct sc_clock *former = legacy->behind;
    if (!merge_into(order, &legacy->behind, clock))
        return false;
    if (legacy->behind != former)
        raise_value(&legacy->behind_version, read_relaxed(&legacy->behind_version) + 1);
    return true;
}

/* A call on the legacy stream has ended: later work on blocking streams comes after it, and after
 * what it had joined, what was due to it and what it waited for. If a later call has ended first,
 * `behind` already has what this one had joined (merged_version), but not what it waited for. */
static void end_legacy(struct sc_order *order, struct sc_stream *stream, struct sc_order_call *call)
{
    if (call->version > stream->merged_version && order_blocking_after(order, stream, call->joined))
        stream->merged_version = call->version;
    order_blocking_after(order, stream, call->due);
    order_blocking_after(order, stream, call->waited);
    raise_value(&stream->ended, call->place);
    count_context_change(order);
}

/* The call of a blocking stream has ended: its stream has joined the legacy calls that had ended
 * when the call began. Their clock (what was waited for on other streams) is merged once for each
 * version. */
static void end_blocking_call(struct sc_order *order, struct sc_stream *stream,
                              const struct sc_order_call *call)
{
    raise_value(&stream->touched, call->legacy_number);
    raise_value(&stream->touched_calls, call->place);
    count_change(order, stream);
    if (read_relaxed(&stream->seen_version) >= call->version ||
        !merge_into(order, &stream->joined, call->joined))
        return;
    update_tie(stream, SC_TIE_JOINED, stream->joined);
    raise_value(&stream->seen_version, call->version);
}

/* Ends a call of any kind: its stream learns what the call comes after, if the driver has accepted
 * it. Records and waits of events are no work (`is_work`): they make their stream join nothing of
 * the legacy stream's. A stream that was removed during the call is left alone, as its id may be
 * another stream's soon. */
static void end_call(struct sc_order *order, struct sc_order_call *call, bool issued, bool is_work)
{
    struct sc_stream *stream = sc_order_stream(order, call->stream);
    issued = issued && !sc_order_is_spare(stream);
    if (issued && call->waited)
        join_and_hand_on(order, stream, call->waited);
    if (issued && is_work)
        join_due(order, stream, call);
    if (issued && is_work && stream->kind == SC_STREAM_LEGACY)
        end_legacy(order, stream, call);
    if (issued && is_work && stream->kind == SC_STREAM_BLOCKING)
        end_blocking_call(order, stream, call);
    drop_clock(order, call->joined);
    drop_clock(order, call->waited);
    drop_clock(order, call->due);
    call->stream = 0;
}

/* Ends a call that is work: its stream learns what the call comes after, if the driver has accepted
 * it. */
void sc_order_end_call(struct sc_order *order, struct sc_order_call *call, bool issued)
{
    SC_ASSERT_GUARDED(&order->streams);
    end_call(order, call, issued, /*is_work*/ true);
}

/* Ends a call that records or waits for an event. On a legacy stream that is work like any other;
 * elsewhere it is not, and what is due to the stream stays due. */
void sc_order_end_record(struct sc_order *order, struct sc_order_call *call, bool issued)
{
    SC_ASSERT_GUARDED(&order->streams);
    drop_clock(order, call->due);
    call->due = NULL;
    end_call(order, call, issued, sc_order_stream(order, call->stream)->kind == SC_STREAM_LEGACY);
}

/* For work that needs no ticket (stream and number): the stream joins what it comes after. */
void sc_order_note_work(struct sc_order *order, uint32_t stream)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_order_call call;
    sc_order_begin_call(order, stream, &call);
    sc_order_end_call(order, &call, /*issued*/ true);
}

/* Returns the point (work issued so far) of a call under way: the stream's own point, with what the
 * call found when it began, since the stream joins that only when the call has ended. */
struct sc_point sc_order_call_point(struct sc_order *order, const struct sc_order_call *call)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_point point = sc_order_point(order, call->stream);
    point.call = larger(point.call, call->place);
    point.legacy_number = larger(point.legacy_number, call->legacy_number);
    merge_into(order, &point.joined, call->joined);
    merge_into(order, &point.joined, call->waited);
    merge_into(order, &point.joined, call->due);
    return point;
}

/* Gives the ticket (stream and number) its stream's next number. On a blocking stream also the
 * epoch: how many calls of the legacy stream had begun. The operation is known done when a legacy
 * call after those is. */
void sc_order_renew_ticket(struct sc_order *order, struct sc_ticket *ticket)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_stream *stream = sc_order_stream(order, ticket->stream);
    bool blocking = stream->kind == SC_STREAM_BLOCKING;
    ticket->legacy = blocking ? stream->context : 0;
    if (blocking)
        ticket->epoch = read_relaxed(&legacy_stream_of(order, stream)->calls);
    ticket->number = draw_number(order, stream);
}

/* Gives a new operation its ticket (stream and number), as by a call that begins and ends here. On
 * a legacy stream the ticket also has the place of that call among the stream's calls (`epoch`). */
struct sc_ticket sc_order_issue(struct sc_order *order, uint32_t id)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_ticket ticket = {.stream = id};
    sc_order_note_work(order, id);
    if (sc_order_stream(order, id)->kind == SC_STREAM_LEGACY)
        ticket.epoch = read_relaxed(&sc_order_stream(order, id)->calls);
    sc_order_renew_ticket(order, &ticket);
    return ticket;
}

/* Sets the point's numbers to the present ones of its stream, and leaves its clock (what was waited
 * for on other streams). On a blocking stream they include how far it has joined the legacy stream.
 */
static void renew_numbers(struct sc_stream *stream, struct sc_point *point)
{
    point->number = read_relaxed(&stream->front.issued);
    if (stream->kind == SC_STREAM_LEGACY)
        point->call = read_relaxed(&stream->ended);
    if (stream->kind == SC_STREAM_BLOCKING) {
        point->legacy = stream->context;
        point->legacy_number = read_relaxed(&stream->touched);
        point->call = read_relaxed(&stream->touched_calls);
    }
}

/* Returns a point: all work issued on the stream so far, with what that had waited for on others.
 */
struct sc_point sc_order_point(struct sc_order *order, uint32_t id)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_stream *stream = sc_order_stream(order, id);
    struct sc_point point = {.stream = id, .joined = retain_clock(stream->joined)};
    renew_numbers(stream, &point);
    return point;
}

/* Brings the point (work issued so far) of an exec's last launch up to date without making it anew:
 * the clock (what was waited for on other streams) is mostly the same one. */
void sc_order_renew_point(struct sc_order *order, struct sc_point *point)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_stream *stream = sc_order_stream(order, point->stream);
    if (point->joined != stream->joined) {
        drop_clock(order, point->joined);
        point->joined = retain_clock(stream->joined);
    }
    renew_numbers(stream, point);
}

/* The stream's context is a green one (a part of the device) of the primary context: waits for the
 * primary cover it, and it comes after what the primary was told to wait for. */
void sc_order_set_primary(struct sc_order *order, uint32_t green, uint32_t primary)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_stream *legacy = sc_order_stream(order, green);
    legacy->primary = primary;
    make_due(order, legacy, sc_order_stream(order, primary)->gate);
}

struct walk {
    struct sc_order *order;
    uint32_t context;
    /* all streams of the context and its green ones, as cuCtxSynchronize waits for; false: those
     * that the legacy stream is ordered with */
    bool whole;
    /* also what the streams were told to wait for and have not joined, as an event of the context
     * stands for */
    bool due;
};

/* Does the walk include the stream? A wait for a primary context includes the streams of its green
 * contexts; non-blocking streams are not ordered with the legacy stream. */
static bool is_walked(const struct walk *walk, const struct sc_stream *stream)
{
    if (stream->context != walk->context)
        return walk->whole && legacy_stream_of(walk->order, stream)->primary == walk->context;
    return walk->whole || stream->kind != SC_STREAM_NONBLOCKING;
}

/* Does the host know all that the stream has had to be done, and has the stream nothing still to
 * join? Then a walk has nothing to take from it. A legacy stream is never idle: it keeps what
 * belongs to the context. */
bool sc_order_is_idle(struct sc_stream *stream)
{
    return read_relaxed(&stream->front.issued) <= read_relaxed(&stream->done) &&
           read_relaxed(&stream->ended) <= read_relaxed(&stream->done_calls) && !stream->joined &&
           !stream->due && stream->kind != SC_STREAM_LEGACY;
}

/* Merges what the context keeps beyond its streams: what blocking streams have waited for
 * (`awaited`), and in a wait for the whole context what removed streams had waited for and what the
 * context itself was told to wait for. */
static void merge_beyond_streams(const struct walk *walk, struct sc_clock **clock,
                                 const struct sc_stream *legacy)
{
    merge_into(walk->order, clock, legacy->awaited);
    if (walk->whole) {
        merge_into(walk->order, clock, legacy->orphaned);
        merge_into(walk->order, clock, legacy->gate);
    }
}

struct found {
    struct sc_clock *clock; /* the streams' own numbers, in order of their ids */
    struct sc_clock *joined;
};

/* Adds to `found` what the stream has issued and what it has waited for, if the walk includes it.
 * Drops on the way a clock (what was waited for on other streams) of which the host knows all to be
 * done, so that the next walk is short. */
static void visit_stream(const struct walk *walk, struct sc_stream *stream, struct found *found)
{
    struct sc_order *order = walk->order;
    if (!is_walked(walk, stream))
        return;
    if (stream->joined && is_clock_known(order, stream->joined))
        forget_joined(order, stream);
    append_entry(order, found->clock,
                 (struct entry){stream->id, read_relaxed(&stream->front.issued),
                                read_relaxed(&stream->ended)});
    merge_into(order, &found->joined, stream->joined);
    if (walk->due)
        merge_into(order, &found->joined, stream->due);
    if (stream->kind == SC_STREAM_LEGACY)
        merge_beyond_streams(walk, &found->joined, stream);
}

/* Visits those of 64 streams that may have work. One that has none loses its bit, so that a process
 * with a thousand idle streams pays for them once. */
static void visit_live(const struct walk *walk, uint32_t first, struct found *found)
{
    uint64_t *live = &walk->order->live[first / 64];
    for (uint64_t left = *live; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctzll(left);
        struct sc_stream *stream = sc_order_stream(walk->order, first + at);
        if (sc_order_is_idle(stream)) {
            stream->is_live = false;
            *live &= ~(UINT64_C(1) << at);
        } else {
            visit_stream(walk, stream, found);
        }
    }
}

/* Returns the point of all work on the streams that the walk includes: a clock (a number for each
 * stream). Streams beyond those that have a bit in `live` are all visited. An empty point: no
 * memory, or no work that the host does not know to be done. */
static struct sc_point walk_context(const struct walk *walk)
{
    struct sc_order *order = walk->order;
    uint32_t end = sc_pool_first_unused(&order->streams);
    struct found found = {.clock = new_clock(order, end)};
    if (!found.clock)
        return (struct sc_point){0};
    for (uint32_t first = 0; first < end && first < SC_ORDER_LIVE_MAX; first += 64)
        visit_live(walk, first, &found);
    for (uint32_t id = SC_ORDER_LIVE_MAX; id < end; id++)
        visit_stream(walk, sc_order_stream(order, id), &found);
    merge_into(order, &found.joined, found.clock);
    drop_clock(order, found.clock);
    return (struct sc_point){.joined = found.joined};
}

/* Returns what a wait for the legacy stream waits for: its work, and that of the blocking streams.
 */
struct sc_point sc_order_legacy_point(struct sc_order *order, uint32_t legacy)
{
    SC_ASSERT_GUARDED(&order->streams);
    return walk_context(&(struct walk){order, legacy, .whole = false});
}

/* Returns what a wait for the whole context waits for. If that is nothing, it is remembered
 * (known_changes), so that the next wait is answered without the lock. Not while a thread has
 * operations left to forget, nor if there was no memory for a clock (what was waited for on other
 * streams): then nothing may only seem to be left. */
struct sc_point sc_order_context_point(struct sc_order *order, uint32_t context)
{
    SC_ASSERT_GUARDED(&order->streams);
    const uint32_t lacked = order->lacked;
    struct sc_point point = walk_context(&(struct walk){order, context, .whole = true});
    if (!point.joined && !order->retiring && order->lacked == lacked)
        atomic_store_explicit(&sc_order_stream(order, context)->known_changes,
                              read_relaxed(&order->changes), memory_order_release);
    return point;
}

/* Has nothing changed since a walk found that the host knows all work of the context to be done? */
bool sc_order_is_context_known(struct sc_order *order, uint32_t context)
{
    return atomic_load_explicit(&sc_order_stream(order, context)->known_changes,
                                memory_order_acquire) ==
           atomic_load_explicit(&order->changes, memory_order_acquire);
}

/* Returns what an event stands for that is recorded for a whole context: its work, and what its
 * streams were told to wait for and have not joined yet (`due`). */
struct sc_point sc_order_context_record(struct sc_order *order, uint32_t context)
{
    SC_ASSERT_GUARDED(&order->streams);
    return walk_context(&(struct walk){order, context, .whole = true, .due = true});
}

/* Copies the point (work issued so far), with a reference of its own to the clock (what that work
 * had waited for on other streams). */
struct sc_point sc_order_copy_point(const struct sc_point *point)
{
    retain_clock(point->joined);
    return *point;
}

/* Two threads recorded one event on one stream at once: extends the point (work issued so far) that
 * is kept by what the other one covers. `other` is left out if the stream has not joined that: then
 * it is of a former stream with this id. */
void sc_order_join_other(struct sc_order *order, struct sc_point *point,
                         const struct sc_point *other)
{
    SC_ASSERT_GUARDED(&order->streams);
    const struct sc_stream *stream = sc_order_stream(order, point->stream);
    if (other->joined && covers_clock(order, stream->joined, other->joined))
        merge_into(order, &point->joined, other->joined);
}

/* Releases the point's reference to its clock (what was waited for on other streams), and empties
 * it. */
void sc_order_release_point(struct sc_order *order, struct sc_point *point)
{
    SC_ASSERT_GUARDED(&order->streams);
    drop_clock(order, point->joined);
    *point = (struct sc_point){0};
}

/* Orders later work on the stream after the point (work issued so far), as a wait for an event
 * does; if it is a legacy stream, work on its blocking streams as well. A stream that was removed
 * meanwhile is left alone, as its id may be another stream's soon. */
bool sc_order_note_wait(struct sc_order *order, uint32_t id, const struct sc_point *point)
{
    SC_ASSERT_GUARDED(&order->streams);
    SC_TRACE("order-wait stream behind number", id, point->stream, point->number);
    struct sc_stream *stream = sc_order_stream(order, id);
    struct sc_clock *clock = NULL;
    bool is_joined = sc_order_is_spare(stream) ||
                     (merge_point(order, &clock, point) && join_and_hand_on(order, stream, clock));
    if (is_joined && stream->kind == SC_STREAM_LEGACY)
        is_joined = order_blocking_after(order, stream, clock);
    drop_clock(order, clock);
    return is_joined;
}

/* A whole context was told to wait for the point (work issued so far): it is due to each of the
 * context's streams, whose next operation joins it, and is kept (`gate`) for streams to come. A
 * clock is made even if the host knows all of it to be done: that something is due changes what an
 * event stands for. */
void sc_order_note_context_wait(struct sc_order *order, uint32_t context,
                                const struct sc_point *point)
{
    SC_ASSERT_GUARDED(&order->streams);
    const struct walk walk = {order, context, .whole = true};
    struct sc_clock *waited = new_clock(order, 0);
    merge_point(order, &waited, point);
    for (uint32_t id = 1; id < sc_pool_first_unused(&order->streams); id++) {
        struct sc_stream *stream = sc_order_stream(order, id);
        if (!stream->removed && is_walked(&walk, stream))
            make_due(order, stream, waited);
    }
    merge_or_set(order, &sc_order_stream(order, context)->gate, waited);
    drop_clock(order, waited);
}

/* The host has waited for everything in the clock (what was waited for on other streams): each of
 * its streams is known done up to the entry's number. */
static void note_clock_known(struct sc_order *order, const struct sc_clock *clock)
{
    for (uint32_t i = 0; clock && i < clock->count; i++) {
        struct sc_stream *stream = sc_order_stream(order, clock->entries[i].stream);
        raise_value(&stream->done, clock->entries[i].number);
        raise_value(&stream->done_calls, clock->entries[i].call);
        SC_CHECK(sc_consistency_of_order(order, clock->entries[i].stream));
    }
}

/* The host has waited for a point (work issued so far) that has numbers of several streams: notes
 * each. Out of line, since the common point is a number of one stream (sc_order_note_known). */
static __attribute__((noinline)) void note_point_known(struct sc_order *order,
                                                       const struct sc_point *point)
{
    union pair pair;
    note_clock_known(order, own_entries(point, &pair));
    note_clock_known(order, point->joined);
}

/* The host has waited for the point (work issued so far): what it covers is known done from now on.
 */
void sc_order_note_known(struct sc_order *order, const struct sc_point *point)
{
    SC_ASSERT_GUARDED(&order->streams);
    SC_TRACE("known stream number", point->stream, point->number);
    if (!sc_order_is_of_one_stream(point)) {
        note_point_known(order, point);
        return;
    }
    raise_value(&sc_order_stream(order, point->stream)->done, point->number);
    SC_CHECK(sc_consistency_of_order(order, point->stream));
}

/* The host has waited for the point (work issued so far), and what it covers is retired. If the
 * stream has had no work since, the next wait for it teaches nothing, which is remembered. Not if
 * the legacy stream has gone on since, unless the host knows that as well. Points without a stream,
 * and legacy streams, stand for several streams and are left out. */
void sc_order_note_all_known(struct sc_order *order, const struct sc_point *point)
{
    SC_ASSERT_GUARDED(&order->streams);
    if (!point->stream)
        return;
    struct sc_stream *stream = sc_order_stream(order, point->stream);
    struct sc_point now = {0};
    renew_numbers(stream, &now);
    bool is_legacy_known = stream->kind == SC_STREAM_BLOCKING && !order->retiring &&
                           is_joined_legacy_known(stream, legacy_stream_of(order, stream));
    if (stream->kind == SC_STREAM_LEGACY || stream->joined != point->joined ||
        now.number != point->number ||
        (!is_legacy_known &&
         (now.legacy_number != point->legacy_number || now.call != point->call)))
        return;
    forget_joined(order, stream);
    atomic_store_explicit(&stream->known_changes, read_relaxed(&stream->changes),
                          memory_order_release);
}

/* Has nothing changed on the stream since the host last knew all of its work to be done? */
bool sc_order_is_all_known(struct sc_order *order, uint32_t id)
{
    struct sc_stream *stream = sc_order_stream(order, id);
    uint64_t known_changes = atomic_load_explicit(&stream->known_changes, memory_order_acquire);
    return stream->kind != SC_STREAM_LEGACY &&
           known_changes == atomic_load_explicit(&stream->changes, memory_order_acquire);
}

/* Does the host know all work in the point to be done, so that a wait for it orders nothing? */
bool sc_order_point_is_known(struct sc_order *order, const struct sc_point *point)
{
    union pair pair;
    return is_clock_known(order, own_entries(point, &pair)) && is_clock_known(order, point->joined);
}

/* The device may tell the host by a word in memory (a signal) that the entry's operations are done;
 * keeps that, with the number up to which marks (the library's completion events) were certainly
 * recorded before it. `own`: the signal is on the entry's stream itself. On another stream the
 * signal comes after an event behind the entry's operations, and the mark of the last of these may
 * have been recorded after that event. */
static void signal_entry(struct sc_order *order, const struct entry *entry, bool own)
{
    struct sc_stream *stream = sc_order_stream(order, entry->stream);
    raise_value(&stream->signalled_calls, entry->call);
    if (read_relaxed(&stream->signalled) >= entry->number)
        return;
    stream->signals[stream->signal_count++ % SC_SIGNALS_KEPT] =
        (struct sc_signal){entry->number, own ? entry->number : entry->number - 1};
    raise_value(&stream->signalled, entry->number);
}

/* Leaves out a number, for what has no operation but must be told from the work before it, as a
 * signal (by which the device tells the host something unseen). */
void sc_order_skip_number(struct sc_order *order, uint32_t stream)
{
    SC_ASSERT_GUARDED(&order->streams);
    draw_number(order, sc_order_stream(order, stream));
}

/* The legacy stream comes after all work of its blocking streams, so a signal (by which the device
 * tells the host something unseen) on it covers that. A number is skipped on each, so that marks
 * (the library's completion events) which are recorded there later have larger numbers than that
 * work. */
static void signal_blocking(struct sc_order *order, uint32_t legacy)
{
    for (uint32_t id = 1; id < sc_pool_first_unused(&order->streams); id++) {
        struct sc_stream *stream = sc_order_stream(order, id);
        if (stream->kind != SC_STREAM_BLOCKING || stream->context != legacy ||
            sc_order_is_spare(stream))
            continue;
        signal_entry(order,
                     &(struct entry){.stream = id, .number = read_relaxed(&stream->front.issued)},
                     true);
        draw_number(order, stream);
    }
}

/* The device may tell the host, unseen by the library (a signal), that all in the clock (what was
 * waited for on other streams) is done: notes that for each entry. `own`: the stream on which the
 * signal is. */
static void signal_clock(struct sc_order *order, const struct sc_clock *clock, uint32_t own)
{
    for (uint32_t i = 0; clock && i < clock->count; i++)
        signal_entry(order, &clock->entries[i], clock->entries[i].stream == own);
}

/* With the first signal (a way of the device to tell the host something unseen) each stream's event
 * records have to take a number: sets the tie (a reason why its next call may come after other
 * work) by which they notice. Streams that are made later get it at once. */
static void tie_streams_to_signals(struct sc_order *order)
{
    if (sc_order_attends(order, SC_ATTENDS_SIGNALS))
        return;
    sc_order_attend(order, SC_ATTENDS_SIGNALS, true);
    for (uint32_t id = 1; id < sc_pool_first_unused(&order->streams); id++)
        update_tie(sc_order_stream(order, id), SC_TIE_SIGNALS, true);
}

/* A signal (by which the device tells the host something unseen) may have reached the host before
 * any mark (a completion event of the library's) was recorded, so none can prove that an operation
 * was incomplete when the host was told. */
static void note_past_signal(struct sc_order *order, const struct sc_clock *clock)
{
    for (uint32_t i = 0; clock && i < clock->count; i++)
        raise_value(&sc_order_stream(order, clock->entries[i].stream)->signalled_past,
                    clock->entries[i].number);
}

/* The device may have told the host already, unseen by the library (a signal), that the point's
 * work is done. So no mark (a completion event of the library's) is known to be before it. */
void sc_order_note_past_signal(struct sc_order *order, const struct sc_point *point)
{
    union pair pair;
    note_past_signal(order, own_entries(point, &pair));
    note_past_signal(order, point->joined);
    sc_order_note_signal(order, point);
}

/* The device may tell the host, unseen by the library (a signal), that the point's work is done.
 * What is freed after that may be freed correctly, so later verdicts take it into account. On a
 * legacy stream that covers its blocking streams as well. */
void sc_order_note_signal(struct sc_order *order, const struct sc_point *point)
{
    SC_ASSERT_GUARDED(&order->streams);
    SC_TRACE("signal stream number", point->stream, point->number);
    union pair pair;
    tie_streams_to_signals(order);
    signal_clock(order, own_entries(point, &pair), point->stream);
    signal_clock(order, point->joined, point->stream);
    if (point->stream && sc_order_stream(order, point->stream)->kind == SC_STREAM_LEGACY)
        signal_blocking(order, point->stream);
}

/* Finds the first signal after the operation: by it the device may have told the host, unseen by
 * the library, that the operation is done. Returns up to which number marks (completion events of
 * the library's) were recorded before the signal. Signals are kept in a ring; if one that was
 * dropped may have been the first, returns 0. */
uint64_t sc_order_first_signal(struct sc_order *order, const struct sc_ticket *ticket)
{
    SC_ASSERT_GUARDED(&order->streams);
    const struct sc_stream *stream = sc_order_stream(order, ticket->stream);
    uint64_t count = stream->signal_count;
    uint64_t oldest = count > SC_SIGNALS_KEPT ? count - SC_SIGNALS_KEPT : 0;
    for (uint64_t i = oldest; i < count && stream->signalled_past < ticket->number; i++) {
        const struct sc_signal *signal = &stream->signals[i % SC_SIGNALS_KEPT];
        bool is_first = i > oldest || oldest == 0; /* an earlier signal may have been forgotten */
        if (signal->number >= ticket->number)
            return is_first && signal->marked >= ticket->number ? signal->marked : 0;
    }
    return 0;
}

/* Does who has waited for the clock (what was waited for on other streams) know the operation to be
 * done: by its stream's number or, on a blocking stream, by a later call of the legacy stream? */
static bool clock_covers(const struct sc_clock *clock, const struct sc_ticket *ticket)
{
    return find_entry(clock, ticket->stream).number >= ticket->number ||
           (ticket->legacy && find_entry(clock, ticket->legacy).call > ticket->epoch);
}

/* Does who has waited for the point (work issued so far, with what that had waited for) know the
 * ticket's operation to be done? */
bool sc_order_point_covers(const struct sc_point *point, const struct sc_ticket *ticket)
{
    union pair pair;
    return clock_covers(own_entries(point, &pair), ticket) || clock_covers(point->joined, ticket);
}

/* Does the stream's next work come after the operation: by the stream's own order, by what it has
 * waited for (its clock), by what its context was told to wait for (due), or by the legacy stream's
 * calls? A legacy stream comes after all work of its blocking streams; those come after its calls
 * that have ended. */
bool sc_order_covers(struct sc_order *order, uint32_t id, const struct sc_ticket *ticket)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_stream *stream = sc_order_stream(order, id);
    if (ticket->stream == id || sc_order_known_done(order, ticket) ||
        clock_covers(stream->joined, ticket) || clock_covers(stream->due, ticket))
        return true;
    if (stream->kind == SC_STREAM_LEGACY)
        return ticket->legacy == id || clock_covers(stream->awaited, ticket);
    if (stream->kind != SC_STREAM_BLOCKING)
        return false;
    struct sc_stream *legacy = legacy_stream_of(order, stream);
    return ticket->stream == stream->context ||
           (ticket->legacy == stream->context && read_relaxed(&legacy->ended) > ticket->epoch) ||
           clock_covers(legacy->behind, ticket);
}

/* ---- made of the functions above ---- */

/* Returns the part of the stream's record that each call reads without the lock. */
const struct sc_stream_front *sc_order_front(struct sc_order *order, uint32_t stream)
{
    return &sc_order_stream(order, stream)->front;
}

/* Notes the call that made the stream, which reports name. */
void sc_order_set_origin(struct sc_order *order, uint32_t stream, uint32_t origin)
{
    atomic_store_explicit(&sc_order_stream(order, stream)->origin, origin, memory_order_release);
}

/* Returns all that a call under way comes after. A call that needed no beginning (stream 0) comes
 * after its stream's own work alone. */
struct sc_point sc_order_point_before(struct sc_order *order, uint32_t stream,
                                      const struct sc_order_call *call)
{
    return call->stream ? sc_order_call_point(order, call) : sc_order_point(order, stream);
}

/* Begins a call and returns what it comes after: for callers that need both at once. */
struct sc_point sc_order_begin_to_wait(struct sc_order *order, uint32_t stream,
                                       struct sc_order_call *call)
{
    sc_order_begin_call(order, stream, call);
    return sc_order_call_point(order, call);
}

/* The work that the call issues may tell the host that all before it is done. It takes a number of
 * its own, so that a mark (a completion event of the library) which is recorded behind it covers
 * more than the host was told. */
void sc_order_note_call_signal(struct sc_order *order, uint32_t stream,
                               const struct sc_order_call *call, bool is_past)
{
    struct sc_point point = sc_order_point_before(order, stream, call);
    (is_past ? sc_order_note_past_signal : sc_order_note_signal)(order, &point);
    sc_order_release_point(order, &point);
    sc_order_issue(order, stream);
}

/* The library has made the stream wait for the operation, in mode=fix. An operation of a legacy
 * stream is also a place among that stream's calls. */
void sc_order_note_edge(struct sc_order *order, uint32_t stream, const struct sc_ticket *ticket)
{
    struct sc_point point = {.stream = ticket->stream, .number = ticket->number};
    if (!ticket->legacy)
        point.call = ticket->epoch;
    sc_order_note_wait(order, stream, &point);
}

/* May the device have told the host, unseen by the library, that the operation is done? By a signal
 * behind it on its stream, or on the legacy stream that comes after it. */
bool sc_order_may_be_signalled(struct sc_order *order, const struct sc_ticket *ticket)
{
    struct sc_stream *stream = sc_order_stream(order, ticket->stream);
    if (atomic_load_explicit(&stream->signalled, memory_order_relaxed) >= ticket->number)
        return true;
    return ticket->legacy &&
           atomic_load_explicit(&sc_order_stream(order, ticket->legacy)->signalled_calls,
                                memory_order_relaxed) > ticket->epoch;
}
