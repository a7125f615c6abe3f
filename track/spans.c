#include "track/spans.h"

#include <string.h>
#include <unistd.h>

#include "track/checks.h"
#include "track/consistency.h"
#include "track/trace.h"

#include "track/poison.h"

enum { CELLS = 1 << 15, LOOKS_MAX = 1000 };

__thread uint64_t sc_spans_own_lanes __attribute__((tls_model("initial-exec")));

int sc_spans_init(struct sc_spans *spans)
{
    memset(spans, 0, sizeof *spans);
    spans->page_mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    sc_pool_init(&spans->pool, sizeof(struct sc_span));
    return sc_grid_init(&spans->grid, &spans->pool, CELLS);
}

void sc_spans_destroy(struct sc_spans *spans)
{
    sc_grid_destroy(&spans->grid);
    sc_pool_destroy(&spans->pool);
}

void sc_spans_set_lanes(struct sc_spans *spans, uintptr_t start, size_t size_bytes)
{
    atomic_store_explicit(&spans->laned_start, start, memory_order_relaxed);
    atomic_store_explicit(&spans->laned_bytes, size_bytes, memory_order_release);
}

/* Changed under the lock only; atomic for those who look without it. */
static void add_to(_Atomic uint32_t *count, int change)
{
    uint32_t value = atomic_load_explicit(count, memory_order_relaxed) + (uint32_t)change;
    atomic_store_explicit(count, value, memory_order_release);
}

/* Counts how many pages' owners may keep the host from reading them; under the lock. */
static void count_hiding(uint32_t *count, const struct sc_span *span, int change)
{
    if (span->access == SC_ACCESS_NONE)
        *count += (uint32_t)change;
}

static unsigned lane_of(const struct sc_spans *spans, const struct sc_span *span)
{
    return sc_spans_lane(spans, sc_span_start(span));
}

/* Changed under the lock only, as counts are. */
static void set_bit(_Atomic uint64_t *bits, unsigned bit, bool value)
{
    uint64_t rest = atomic_load_explicit(bits, memory_order_relaxed) & ~(UINT64_C(1) << bit);
    atomic_store_explicit(bits, rest | (uint64_t)value << bit, memory_order_release);
}

static void clear_lane_if_done(struct sc_spans *spans, unsigned lane)
{
    if (spans->unapplied[lane] || spans->refused[lane])
        return;
    set_bit(&spans->unapplied_lanes, lane, false);
    set_bit(&spans->ending_lanes, lane, false);
    atomic_store_explicit(&spans->ending_streams[lane], 0, memory_order_release);
}

static void mark_ending(struct sc_spans *spans, unsigned lane, uint32_t stream)
{
    uint64_t streams = atomic_load_explicit(&spans->ending_streams[lane], memory_order_relaxed);
    atomic_store_explicit(&spans->ending_streams[lane], streams | sc_spans_stream_bit(stream),
                          memory_order_relaxed);
    set_bit(&spans->ending_lanes, lane, true);
}

uint64_t sc_spans_lanes_ending(const struct sc_spans *spans, uint64_t stream_bits)
{
    uint64_t ending = atomic_load_explicit(&spans->ending_lanes, memory_order_acquire);
    uint64_t found = 0;
    for (; ending; ending &= ending - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(ending);
        if (atomic_load_explicit(&spans->ending_streams[lane], memory_order_relaxed) & stream_bits)
            found |= UINT64_C(1) << lane;
    }
    return found;
}

/* From its first page on, once more if some of it has been told of already. */
static void set_unapplied(struct sc_spans *spans, uint32_t id)
{
    struct sc_span *span = sc_spans_at(spans, id);
    unsigned lane = lane_of(spans, span);
    span->applied_to = sc_span_start(span);
    sc_spans_own_lanes |= UINT64_C(1) << lane;
    set_bit(&spans->unapplied_lanes, lane, true);
    if (!span->live)
        mark_ending(spans, lane, span->stream);
    if (span->unapplied)
        return;
    span->unapplied = true;
    span->unapplied_next = spans->unapplied[lane];
    spans->unapplied[lane] = id;
    add_to(&spans->unapplied_count, 1);
    count_hiding(&spans->hiding_unapplied, span, 1);
}

/* `address` and `end` lie on page boundaries. */
static uint32_t new_span(struct sc_spans *spans, struct sc_span_owner owner, uintptr_t address,
                         uintptr_t end, enum sc_access access)
{
    uint32_t id = sc_pool_take(&spans->pool);
    if (!id)
        return 0;
    struct sc_span *span = sc_spans_at(spans, id);
    atomic_store_explicit(&span->node.address, address, memory_order_release);
    atomic_store_explicit(&span->node.size_bytes, end - address, memory_order_release);
    span->op = owner.op;
    span->stream = owner.stream;
    span->access = access;
    span->live = true;
    atomic_store(&span->used, true);
    atomic_fetch_add(&spans->begun, 1);
    sc_grid_insert(&spans->grid, id);
    spans->live++;
    add_to(&spans->busy, 1);
    count_hiding(&spans->hiding, span, 1);
    return id;
}

uint32_t sc_spans_add(struct sc_spans *spans, struct sc_span_owner owner, uintptr_t address,
                      size_t size_bytes, enum sc_access access, uint32_t next)
{
    SC_ASSERT_GUARDED(&spans->pool);
    SC_TRACE("span-add op address bytes access", owner.op, address, size_bytes, access);
    struct sc_pages pages = sc_spans_pages(spans, address, size_bytes);
    uint32_t id =
        pages.end > pages.start ? new_span(spans, owner, pages.start, pages.end, access) : 0;
    if (!id)
        return next;
    sc_blocks_add(&spans->ever, pages.start, pages.end - pages.start);
    sc_spans_at(spans, id)->next = next;
    set_unapplied(spans, id);
    SC_CHECK_OF(spans->pool.live, sc_consistency_of_spans(spans));
    return id;
}

/* Who looks without the lock finds the span in the grid, or that something is unapplied. */
void sc_spans_end(struct sc_spans *spans, uint32_t id)
{
    SC_ASSERT_GUARDED(&spans->pool);
    SC_TRACE("span-end span", id);
    while (id) {
        struct sc_span *span = sc_spans_at(spans, id);
        SC_ASSERT(id < sc_pool_unused(&spans->pool));
        SC_ASSERT(span->live && spans->live > 0);
        span->live = false;
        spans->live--;
        set_unapplied(spans, id);
        sc_grid_remove(&spans->grid, id);
        id = span->next;
    }
    SC_CHECK_OF(spans->pool.live, sc_consistency_of_spans(spans));
}

/* What is left of a span is as applied as the whole was. */
static uint32_t keep_part(struct sc_spans *spans, const struct sc_span *whole, uintptr_t start,
                          uintptr_t end, uint32_t next)
{
    const struct sc_span_owner owner = {whole->op, whole->stream};
    uint32_t id = start < end ? new_span(spans, owner, start, end, whole->access) : 0;
    if (!id)
        return next;
    sc_spans_at(spans, id)->next = next;
    if (whole->unapplied)
        set_unapplied(spans, id);
    return id;
}

uint32_t sc_spans_cut(struct sc_spans *spans, uint32_t first, uintptr_t address, size_t size_bytes)
{
    SC_ASSERT_GUARDED(&spans->pool);
    SC_TRACE("span-cut span address bytes", first, address, size_bytes);
    struct sc_pages pages = sc_spans_pages(spans, address, size_bytes);
    uint32_t kept = 0;
    for (uint32_t id = first, next; id; id = next) {
        struct sc_span *span = sc_spans_at(spans, id);
        next = span->next;
        if (sc_span_start(span) >= pages.end || sc_span_end(span) <= pages.start) {
            span->next = kept;
            kept = id;
            continue;
        }
        kept = keep_part(spans, span, sc_span_start(span), pages.start, kept);
        kept = keep_part(spans, span, pages.end, sc_span_end(span), kept);
        span->next = 0;
        sc_spans_end(spans, id);
    }
    return kept;
}

/* ---- applying ---- */

/* The pages from `at` to `until` have the same live spans on them, or are `silent`: whatever
 * else lives there, nothing is to be told of them. */
struct piece {
    struct sc_spans *spans;
    const struct sc_span *of;
    bool silent;
    uintptr_t at;
    uintptr_t until;
    enum sc_access access; /* the least that a live span allows */
    bool applied;          /* an applied span has brought it there */
};

/* Where a live span allows no more, the end of `of` changes nothing; and if the kernel knows of
 * that span, neither does the beginning. Of a thousand spans on a page the first one that is met
 * mostly says so. */
static bool silences(const struct sc_span *span, const struct piece *piece)
{
    return span->access >= piece->of->access && (!piece->of->live || !span->unapplied);
}

static bool narrow_piece(void *context, uint32_t id)
{
    struct piece *piece = context;
    const struct sc_span *span = sc_spans_at(piece->spans, id);
    if (sc_span_start(span) > piece->at) {
        if (sc_span_start(span) < piece->until)
            piece->until = sc_span_start(span);
        return true;
    }
    if (sc_span_end(span) < piece->until)
        piece->until = sc_span_end(span);
    piece->silent = silences(span, piece);
    if (span->access > piece->access)
        piece->applied = false;
    if (span->access >= piece->access) {
        piece->access = span->access;
        piece->applied |= !span->unapplied;
    }
    return !piece->silent;
}

static struct piece next_piece(struct sc_spans *spans, const struct sc_span *span)
{
    struct piece piece = {
        .spans = spans,
        .of = span,
        .at = span->applied_to,
        .until = sc_span_end(span),
        .access = SC_ACCESS_ALL,
    };
    if (spans->live == (uint32_t)span->live)
        piece.access = span->live ? span->access : SC_ACCESS_ALL;
    else
        sc_grid_overlaps_locked(&spans->grid, piece.at, piece.until - piece.at, narrow_piece,
                                &piece);
    return piece;
}

/* Pages of a span that ended had its access, or less by another span, who will tell when it ends
 * too. Pages of a new one may have less already. */
static bool must_tell(const struct sc_span *span, const struct piece *piece)
{
    if (piece->silent)
        return false;
    if (span->live)
        return piece->access == span->access && !piece->applied;
    return piece->access < span->access;
}

static void unlink_unapplied(struct sc_spans *spans, uint32_t id)
{
    uint32_t *link = &spans->unapplied[lane_of(spans, sc_spans_at(spans, id))];
    while (*link != id)
        link = &sc_spans_at(spans, *link)->unapplied_next;
    *link = sc_spans_at(spans, id)->unapplied_next;
}

static void set_applied(struct sc_spans *spans, uint32_t id)
{
    struct sc_span *span = sc_spans_at(spans, id);
    SC_ASSERT(span->unapplied);
    unlink_unapplied(spans, id);
    clear_lane_if_done(spans, lane_of(spans, span));
    span->unapplied = false;
    if (!span->live)
        atomic_store_explicit(&span->used, false, memory_order_release);
    add_to(&spans->unapplied_count, -1);
    count_hiding(&spans->hiding_unapplied, span, -1);
    if (span->live)
        return;
    count_hiding(&spans->hiding, span, -1);
    sc_pool_give(&spans->pool, id);
    add_to(&spans->busy, -1);
    SC_ASSERT(atomic_load_explicit(&spans->busy, memory_order_relaxed) == spans->pool.live);
}

/* Is the whole span to be let go, and nothing of it told of yet? */
static bool is_to_be_let_go(struct sc_spans *spans, const struct sc_span *span)
{
    if (span->live || span->applied_to != sc_span_start(span))
        return false;
    struct piece piece = next_piece(spans, span);
    return piece.until == sc_span_end(span) && piece.access == SC_ACCESS_ALL &&
           must_tell(span, &piece);
}

/* Operations on neighbouring pages often end together, and are then next to each other in the list.
 * What is let go at once stays unapplied until its turn comes. */
static void let_go_with_neighbours(struct sc_spans *spans, struct sc_access_change *change)
{
    uint32_t id = sc_spans_at(spans, change->span)->unapplied_next;
    for (; id; id = sc_spans_at(spans, id)->unapplied_next) {
        struct sc_span *span = sc_spans_at(spans, id);
        uintptr_t change_end = change->address + change->size_bytes;
        bool adjoins = sc_span_end(span) == change->address || sc_span_start(span) == change_end;
        if (!adjoins || !is_to_be_let_go(spans, span))
            return;
        if (sc_span_end(span) == change->address)
            change->address = sc_span_start(span);
        change->size_bytes += sc_span_end(span) - sc_span_start(span);
        span->applied_to = sc_span_end(span);
    }
}

bool sc_spans_apply(struct sc_spans *spans, unsigned lane, struct sc_access_change *change)
{
    SC_ASSERT_GUARDED(&spans->pool);
    uint32_t id = spans->unapplied[lane];
    change->size_bytes = 0;
    if (!id)
        return false;
    struct sc_span *span = sc_spans_at(spans, id);
    if (span->applied_to >= sc_span_end(span)) {
        set_applied(spans, id);
        return true;
    }
    struct piece piece = next_piece(spans, span);
    span->applied_to = piece.until;
    if (must_tell(span, &piece))
        *change = (struct sc_access_change){piece.at, piece.until - piece.at, piece.access, id};
    if (change->size_bytes && !span->live && piece.access == SC_ACCESS_ALL)
        let_go_with_neighbours(spans, change);
    return true;
}

/* Neighbours that were to be let go with the refused span are told of by themselves. */
static void tell_neighbours_again(struct sc_spans *spans, const struct sc_access_change *change)
{
    uintptr_t end = change->address + change->size_bytes;
    uint32_t first = spans->unapplied[sc_spans_lane(spans, change->address)];
    for (uint32_t id = first; id; id = sc_spans_at(spans, id)->unapplied_next) {
        struct sc_span *span = sc_spans_at(spans, id);
        bool is_within = sc_span_start(span) >= change->address && sc_span_end(span) <= end;
        if (!span->live && is_within && span->applied_to == sc_span_end(span))
            span->applied_to = sc_span_start(span);
    }
}

uint32_t sc_spans_refuse(struct sc_spans *spans, const struct sc_access_change *change)
{
    SC_ASSERT_GUARDED(&spans->pool);
    SC_TRACE("span-refused span address bytes", change->span, change->address, change->size_bytes);
    struct sc_span *span = sc_spans_at(spans, change->span);
    if (span->live)
        return span->op;
    unlink_unapplied(spans, change->span);
    tell_neighbours_again(spans, change);
    span->applied_to = sc_span_start(span);
    unsigned lane = lane_of(spans, span);
    span->unapplied_next = spans->refused[lane];
    spans->refused[lane] = change->span;
    SC_CHECK_OF(spans->pool.live, sc_consistency_of_spans(spans));
    return 0;
}

bool sc_spans_retry(struct sc_spans *spans, unsigned lane)
{
    SC_ASSERT_GUARDED(&spans->pool);
    bool any = spans->refused[lane] != 0;
    while (spans->refused[lane]) {
        uint32_t id = spans->refused[lane];
        struct sc_span *span = sc_spans_at(spans, id);
        spans->refused[lane] = span->unapplied_next;
        span->unapplied_next = spans->unapplied[lane];
        spans->unapplied[lane] = id;
    }
    SC_CHECK_OF(spans->pool.live, sc_consistency_of_spans(spans));
    return any;
}

/* ---- what is left to who applies ---- */

static bool narrow_access(void *context, uint32_t id)
{
    struct piece *piece = context;
    const struct sc_span *span = sc_spans_at(piece->spans, id);
    if (span->access > piece->access)
        piece->access = span->access;
    return true;
}

enum sc_access sc_spans_least(struct sc_spans *spans, uintptr_t address, size_t size_bytes)
{
    SC_ASSERT_GUARDED(&spans->pool);
    struct piece piece = {.spans = spans, .access = SC_ACCESS_ALL};
    struct sc_pages pages = sc_spans_pages(spans, address, size_bytes);
    sc_grid_overlaps_locked(&spans->grid, pages.start, pages.end - pages.start, narrow_access,
                            &piece);
    return piece.access;
}

bool sc_spans_may_hide(struct sc_spans *spans, uintptr_t address, size_t size_bytes)
{
    SC_ASSERT_GUARDED(&spans->pool);
    uintptr_t start = address & ~spans->page_mask;
    if (spans->hiding == 0)
        return false;
    return spans->hiding_unapplied != 0 ||
           (sc_grid_may_overlap(&spans->grid, start, size_bytes + (address - start)) &&
            sc_spans_least(spans, address, size_bytes) == SC_ACCESS_NONE);
}

enum sc_access sc_spans_access(struct sc_spans *spans, uintptr_t address)
{
    SC_ASSERT_GUARDED(&spans->pool);
    return sc_spans_least(spans, address, 1);
}

static bool is_in_list(struct sc_spans *spans, uint32_t list, uintptr_t page)
{
    for (uint32_t id = list; id; id = sc_spans_at(spans, id)->unapplied_next) {
        const struct sc_span *span = sc_spans_at(spans, id);
        if (page - sc_span_start(span) < sc_span_end(span) - sc_span_start(span))
            return true;
    }
    return false;
}

bool sc_spans_cover(struct sc_spans *spans, uintptr_t address)
{
    SC_ASSERT_GUARDED(&spans->pool);
    uintptr_t page = address & ~spans->page_mask;
    unsigned lane = sc_spans_lane(spans, page);
    return sc_grid_point_locked(&spans->grid, page) != 0 ||
           is_in_list(spans, spans->unapplied[lane], page) ||
           is_in_list(spans, spans->refused[lane], page);
}

/* ---- fork ---- */

void sc_spans_forget(struct sc_spans *spans)
{
    atomic_store(&spans->busy, 0);
    atomic_store(&spans->unapplied_count, 0);
    atomic_store(&spans->unapplied_lanes, 0);
    atomic_store(&spans->ending_lanes, 0);
    spans->hiding = 0;
    spans->hiding_unapplied = 0;
    sc_blocks_clear(&spans->ever);
}

void sc_spans_let_go_inherited(struct sc_spans *spans, uint32_t span)
{
    atomic_store(&sc_spans_at(spans, span)->used, false);
}

static bool any_record_has(struct sc_spans *spans, uintptr_t address)
{
    struct sc_access_change pages;
    uint32_t span = 0;
    while (sc_spans_inherited(spans, &span, &pages))
        if (address - pages.address < pages.size_bytes)
            return true;
    return false;
}

/* A page goes from one span to a new one before the former ends, perhaps into a record that has
 * been looked at. Where that goes on for ever, it is better let through than not. */
bool sc_spans_may_protect(struct sc_spans *spans, uintptr_t address)
{
    for (unsigned attempt = 0; attempt < LOOKS_MAX; attempt++) {
        uint32_t begun = sc_spans_begun(spans);
        if (any_record_has(spans, address))
            return true;
        if (sc_spans_begun(spans) == begun)
            return false;
    }
    return true;
}

bool sc_spans_inherited(struct sc_spans *spans, uint32_t *id, struct sc_access_change *change)
{
    while (++*id < sc_pool_unused(&spans->pool)) {
        struct sc_span *span = sc_spans_at(spans, *id);
        if (!atomic_load(&span->used))
            continue;
        *change = (struct sc_access_change){
            sc_span_start(span), sc_span_end(span) - sc_span_start(span), SC_ACCESS_ALL, *id};
        return true;
    }
    return false;
}
