#include "track/spans.h"

#include <string.h>
#include <unistd.h>

#include "common/checks.h"
#include "common/trace.h"
#include "track/consistency.h"
#include "track/spans_internal.h"

#include "common/poison.h"

/* FEW: so many spans without their system call are searched one by one */
enum { CELLS = 1 << 15, SEARCHES_MAX = 1000, FEW = 256 };

__thread uint64_t sc_spans_changed_stripes __attribute__((tls_model("initial-exec")));
__thread uint64_t sc_spans_locked_stripes __attribute__((tls_model("initial-exec")));

/* Initialises the spans (runs of protected pages): which runs of pages are to be protected for
 * which operation. Returns 0, or -ENOMEM. */
int sc_spans_init(struct sc_spans *spans)
{
    memset(spans, 0, sizeof *spans);
    spans->page_mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    sc_pool_init(&spans->pool, sizeof(struct sc_span));
    return sc_grid_init(&spans->grid, &spans->pool, CELLS);
}

/* Returns which area of 2 MB the address lies in, counted from where areas begin. */
static unsigned area_index(const struct sc_spans *spans, uintptr_t address)
{
    uintptr_t start = atomic_load_explicit(&spans->striped_start, memory_order_relaxed);
    return (unsigned)((address - start) / SC_SPANS_AREA_BYTES);
}

/* Returns the stripe (a set of pages that share a lock) meant for the address's area. Stripe 0 is
 * for all memory without areas. */
unsigned sc_spans_home_stripe(const struct sc_spans *spans, uintptr_t address)
{
    return 1 + area_index(spans, address) % (SC_SPANS_STRIPES - 1);
}

/* Gives the area the stripe (the set of pages that share a lock) that is meant for it. Until then
 * its pages are in stripe 0. */
static void move_to_home_stripe(struct sc_spans *spans, uintptr_t address)
{
    atomic_store_explicit(&spans->stripes[area_index(spans, address)],
                          (uint8_t)sc_spans_home_stripe(spans, address), memory_order_release);
}

/* Sets the memory whose areas may have other stripes (sets of pages that share a lock) than 0.
 * `striped_bytes` is stored last, since readers without the lock read it first. */
void sc_spans_set_stripes(struct sc_spans *spans, uintptr_t start, size_t size_bytes,
                          size_t striped_bytes)
{
    SC_ASSERT(size_bytes / SC_SPANS_AREA_BYTES <= SC_SPANS_AREAS_MAX);
    atomic_store_explicit(&spans->striped_start, start, memory_order_relaxed);
    for (size_t offset = 0; offset < striped_bytes; offset += SC_SPANS_AREA_BYTES)
        move_to_home_stripe(spans, start + offset);
    atomic_store_explicit(&spans->striped_bytes, size_bytes, memory_order_release);
}

/* Has the page's area a lock of its own (a stripe), so that its system calls need not wait for
 * those elsewhere? */
bool sc_spans_have_stripe(const struct sc_spans *spans, uintptr_t address)
{
    return sc_spans_stripe(spans, address) != 0;
}

/* Returns the stripes (sets of pages that share a lock) that a thread has to lock for a small
 * interval: those of its first and last page. */
uint64_t sc_spans_stripe_bits(const struct sc_spans *spans, uintptr_t address, size_t size_bytes)
{
    struct sc_pages pages = sc_spans_pages(spans, address, size_bytes);
    return UINT64_C(1) << sc_spans_stripe(spans, pages.start) |
           UINT64_C(1) << sc_spans_stripe(spans, pages.end - 1);
}

/* Returns where the next area after this page begins, of those that have a stripe (a lock) of their
 * own; `end`: there is none. */
static uintptr_t next_area(const struct sc_spans *spans, uintptr_t page, uintptr_t end)
{
    size_t bytes = atomic_load_explicit(&spans->striped_bytes, memory_order_acquire);
    uintptr_t start = atomic_load_explicit(&spans->striped_start, memory_order_relaxed);
    uintptr_t offset = page - start;
    if (offset < bytes)
        return page - offset % SC_SPANS_AREA_BYTES + SC_SPANS_AREA_BYTES;
    return bytes && page < start ? start : end;
}

/* Returns how far the page's stripe (the set of pages that share its lock) goes on from there, at
 * most to `end`. No span (a run of protected pages) reaches from one stripe into another. */
static uintptr_t stripe_end(const struct sc_spans *spans, uintptr_t page, uintptr_t end)
{
    uintptr_t area = next_area(spans, page, end);
    while (area < end && sc_spans_stripe(spans, area) == sc_spans_stripe(spans, page))
        area = next_area(spans, area, end);
    return area < end ? area : end;
}

/* Sets or clears a bit of a word that is changed under the lock only, and read without it. */
static void change_bit(_Atomic uint64_t *bits, unsigned bit, bool value)
{
    uint64_t rest = atomic_load_explicit(bits, memory_order_relaxed) & ~(UINT64_C(1) << bit);
    atomic_store_explicit(bits, rest | (uint64_t)value << bit, memory_order_release);
}

/* Clears the stripe's bits, by which threads see what is left to do there, if no system call is:
 * for none of its spans (runs of pages) it is outstanding or was refused. */
void sc_spans_clear_stripe(struct sc_spans *spans, unsigned stripe)
{
    if (spans->unapplied[stripe] || spans->refused[stripe])
        return;
    change_bit(&spans->unapplied_stripes, stripe, false);
    change_bit(&spans->ending_stripes, stripe, false);
    atomic_store_explicit(&spans->ending_streams[stripe], 0, memory_order_release);
}

/* A span (a run of protected pages) of the stream has ended in the stripe (pages that share a
 * lock). Who waits for the stream sees by this bit that pages are to be unprotected first, before
 * the program learns of the end. */
static void record_ending(struct sc_spans *spans, unsigned stripe, uint32_t stream)
{
    uint64_t streams = atomic_load_explicit(&spans->ending_streams[stripe], memory_order_relaxed);
    atomic_store_explicit(&spans->ending_streams[stripe], streams | sc_spans_stream_bit(stream),
                          memory_order_relaxed);
    change_bit(&spans->ending_stripes, stripe, true);
}

/* Returns those stripes (sets of pages that share a lock) of the set `stripes` in which pages of
 * these streams' operations have still to be unprotected: their word in `streams` has one of the
 * bits. */
static uint64_t stripes_of_streams(const _Atomic uint64_t *stripes, const _Atomic uint64_t *streams,
                                   uint64_t stream_bits)
{
    uint64_t left = atomic_load_explicit(stripes, memory_order_acquire);
    uint64_t found = 0;
    for (; left && stream_bits; left &= left - 1) {
        unsigned stripe = (unsigned)__builtin_ctzll(left);
        if (atomic_load_explicit(&streams[stripe], memory_order_relaxed) & stream_bits)
            found |= UINT64_C(1) << stripe;
    }
    return found;
}

/* Returns the stripes (sets of pages that share a lock) in which pages of operations of these
 * streams have still to be unprotected: a thread that has waited for the streams does that before
 * it returns to the program. */
uint64_t sc_spans_stripes_ending(const struct sc_spans *spans, uint64_t stream_bits)
{
    return stripes_of_streams(&spans->ending_stripes, spans->ending_streams, stream_bits) |
           stripes_of_streams(&spans->due_stripes, spans->due_streams, stream_bits);
}

/* The span (a run of protected pages) begins or ends, so its system call is outstanding (it is
 * unapplied): puts it into its stripe's list. If it is there already, some of its pages may be
 * done, and are done again. */
void sc_spans_set_unapplied(struct sc_spans *spans, uint32_t id)
{
    struct sc_span *span = sc_spans_at(spans, id);
    unsigned stripe = sc_spans_stripe_of(spans, span);
    span->applied_to = sc_span_start(span);
    sc_spans_changed_stripes |= UINT64_C(1) << stripe;
    change_bit(&spans->unapplied_stripes, stripe, true);
    if (!span->live)
        record_ending(spans, stripe, span->stream);
    if (span->unapplied)
        return;
    span->unapplied = true;
    span->unapplied_next = spans->unapplied[stripe];
    spans->unapplied[stripe] = id;
    sc_spans_add_to(&spans->unapplied_count, 1);
    sc_spans_count_unreadable(&spans->unreadable_unapplied, span, 1);
}

/* Makes a live span (begun and not ended): a run of pages that an operation wants protected. It is
 * in no list yet. `used` is set before the pages can be protected, for who looks without the lock.
 * Returns its id; 0: no memory. */
static uint32_t new_span(struct sc_spans *spans, struct sc_span_owner owner, uintptr_t address,
                         uintptr_t end, enum sc_access access)
{
    sc_spans_free_applied(spans);
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
    atomic_fetch_add_explicit(&spans->busy, 1, memory_order_relaxed);
    sc_spans_count_unreadable(&spans->unreadable, span, 1);
    return id;
}

/* Notes that spans (runs of protected pages) of the stream live in the stripe (pages that share a
 * lock), so that a thread which ends them can lock the stripe first and make the system calls
 * itself. A wrong hint only costs time. */
static void hint_stripe(struct sc_spans *spans, uint32_t id)
{
    const struct sc_span *span = sc_spans_at(spans, id);
    _Atomic uint64_t *stripes = &spans->stream_stripes[span->stream % 64];
    atomic_store_explicit(stripes,
                          atomic_load_explicit(stripes, memory_order_relaxed) |
                              UINT64_C(1) << sc_spans_stripe_of(spans, span),
                          memory_order_relaxed);
}

/* Removes the hint of hint_stripe when a span (a run of protected pages) ends. Other spans of the
 * stream may live there: a lost hint only costs time. */
static void forget_stripe_hint(struct sc_spans *spans, uint32_t stream, unsigned stripe)
{
    _Atomic uint64_t *stripes = &spans->stream_stripes[stream % 64];
    atomic_store_explicit(
        stripes, atomic_load_explicit(stripes, memory_order_relaxed) & ~(UINT64_C(1) << stripe),
        memory_order_relaxed);
}

/* Adds a span (a run of pages to be protected) within one stripe (pages that share a lock). A
 * thread that has locked the stripe makes the system call itself; for others it stays outstanding.
 * Without memory the pages are not protected. Returns the first of the operation's spans. */
static uint32_t add_in_stripe(struct sc_spans *spans, struct sc_span_owner owner,
                              struct sc_pages pages, enum sc_access access, uint32_t next)
{
    uint32_t id = new_span(spans, owner, pages.start, pages.end, access);
    if (!id)
        return next;
    sc_spans_at(spans, id)->next = next;
    hint_stripe(spans, id);
    sc_spans_set_unapplied(spans, id);
    if (sc_spans_locked_stripes)
        sc_spans_begin_due(spans, id);
    return id;
}

/* An operation wants these pages protected: adds a span (a run of protected pages) for each part
 * that lies in one stripe (shares a lock). `ever` tells later whether a page can have been
 * protected at all. */
uint32_t sc_spans_add(struct sc_spans *spans, struct sc_span_owner owner, uintptr_t address,
                      size_t size_bytes, enum sc_access access, uint32_t next)
{
    SC_ASSERT_GUARDED(&spans->pool);
    SC_TRACE("span-add op address bytes access", owner.op, address, size_bytes, access);
    struct sc_pages pages = sc_spans_pages(spans, address, size_bytes);
    if (pages.end > pages.start)
        sc_blocks_add(&spans->ever, pages.start, pages.end - pages.start);
    while (pages.start < pages.end) {
        uintptr_t end = stripe_end(spans, pages.start, pages.end);
        next = add_in_stripe(spans, owner, (struct sc_pages){pages.start, end}, access, next);
        pages.start = end;
    }
    SC_CHECK_OF(spans->pool.live, sc_consistency_of_spans(spans));
    return next;
}

/* The operation's pages are to be accessible again: ends its spans (runs of protected pages). A
 * span is listed as outstanding before it leaves the index of live spans (begun and not ended), so
 * that a reader without the lock finds it in one of the two. If the beginning is still outstanding,
 * some of the pages may be protected and some not, so the end stays outstanding, too. */
void sc_spans_end(struct sc_spans *spans, uint32_t id)
{
    SC_ASSERT_GUARDED(&spans->pool);
    SC_TRACE("span-end span", id);
    while (id) {
        struct sc_span *span = sc_spans_at(spans, id);
        SC_ASSERT(id < sc_pool_first_unused(&spans->pool));
        SC_ASSERT(span->live && spans->live > 0);
        uint32_t next = span->next;
        bool is_applied = !span->unapplied;
        span->live = false;
        spans->live--;
        forget_stripe_hint(spans, span->stream, sc_spans_stripe_of(spans, span));
        sc_spans_set_unapplied(spans, id);
        sc_grid_remove(&spans->grid, id);
        if (is_applied && sc_spans_locked_stripes)
            sc_spans_end_due(spans, id);
        id = next;
    }
    SC_CHECK_OF(spans->pool.live, sc_consistency_of_spans(spans));
}

/* A part of the span `whole` is cut out: makes a span (a run of protected pages) of one of the
 * parts that remain. Its pages are as protected as before, so its system call is outstanding only
 * if that of `whole` is. Returns the operation's first span. */
static uint32_t add_remaining_part(struct sc_spans *spans, const struct sc_span *whole,
                                   uintptr_t start, uintptr_t end, uint32_t next)
{
    const struct sc_span_owner owner = {whole->op, whole->stream};
    uint32_t id = start < end ? new_span(spans, owner, start, end, whole->access) : 0;
    if (!id)
        return next;
    sc_spans_at(spans, id)->next = next;
    if (whole->unapplied)
        sc_spans_set_unapplied(spans, id);
    return id;
}

/* Takes the interval's pages out of an operation's spans (runs of protected pages): a span there is
 * replaced by new ones for what remains of it on both sides. Returns the operation's first span. */
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
        kept = add_remaining_part(spans, span, sc_span_start(span), pages.start, kept);
        kept = add_remaining_part(spans, span, pages.end, sc_span_end(span), kept);
        span->next = 0;
        sc_spans_end(spans, id);
    }
    return kept;
}

/* ---- what holds of pages ---- */

/* Returns the least access that live spans (runs of protected pages) allow on any page of the
 * interval. A page may be in the spans of several operations. */
static enum sc_access least_access(struct sc_spans *spans, uintptr_t address, size_t size_bytes)
{
    SC_ASSERT_GUARDED(&spans->pool);
    enum sc_access least = SC_ACCESS_ALL;
    struct sc_pages pages = sc_spans_pages(spans, address, size_bytes);
    SC_GRID_EACH (walk, &spans->grid, pages.start, pages.end - pages.start)
        if (sc_spans_at(spans, walk.id)->access > least)
            least = sc_spans_at(spans, walk.id)->access;
    return least;
}

/* Returns the access that the page is to have: the least that a live span (a run of protected
 * pages) allows. */
enum sc_access sc_spans_access(struct sc_spans *spans, uintptr_t address)
{
    SC_ASSERT_GUARDED(&spans->pool);
    return least_access(spans, address, 1);
}

/* Has a span (a run of protected pages) of the list (linked by unapplied_next) a page of the
 * interval? */
static bool is_in_list(struct sc_spans *spans, uint32_t list, uintptr_t address, size_t size_bytes)
{
    struct sc_pages pages = sc_spans_pages(spans, address, size_bytes);
    for (uint32_t id = list; id; id = sc_spans_at(spans, id)->unapplied_next) {
        const struct sc_span *span = sc_spans_at(spans, id);
        if (sc_span_start(span) < pages.end && pages.start < sc_span_end(span))
            return true;
    }
    return false;
}

/* Are so many system calls outstanding that it takes too long to search their lists? In stripe 0,
 * which has most memory, there may be many. */
static bool has_many(const struct sc_spans *spans)
{
    return atomic_load_explicit(&spans->unapplied_count, memory_order_relaxed) +
               atomic_load_explicit(&spans->due, memory_order_relaxed) >
           FEW;
}

/* May a page be unreadable since a span (a run of protected pages) there has ended and the pages
 * are not unprotected yet? Ended spans are in lists by stripe (pages that share a lock). If the
 * interval has several stripes, or the list is long, the answer is yes as soon as there is any such
 * span. */
static bool may_still_be_unreadable(struct sc_spans *spans, uintptr_t address, size_t size_bytes)
{
    unsigned stripe = sc_spans_stripe(spans, address);
    struct sc_pages pages = sc_spans_pages(spans, address, size_bytes);
    if (stripe_end(spans, pages.start, pages.end) < pages.end || (stripe == 0 && has_many(spans)))
        return spans->unreadable_unapplied != 0 || sc_spans_any_due(spans);
    if (spans->unreadable_unapplied == 0 && !spans->due_ended[stripe])
        return false;
    return is_in_list(spans, spans->unapplied[stripe], address, size_bytes) ||
           is_in_list(spans, spans->refused[stripe], address, size_bytes) ||
           is_in_list(spans, spans->due_ended[stripe], address, size_bytes);
}

/* May a read of the interval by the library fault? By a live span (a run of protected pages), which
 * the index finds, or by an ended one whose pages are not unprotected yet. */
bool sc_spans_may_forbid_reading_some(struct sc_spans *spans, uintptr_t address, size_t size_bytes)
{
    SC_ASSERT_GUARDED(&spans->pool);
    uintptr_t start = address & ~spans->page_mask;
    return may_still_be_unreadable(spans, address, size_bytes) ||
           (sc_grid_may_overlap(&spans->grid, start, size_bytes + (address - start)) &&
            least_access(spans, address, size_bytes) == SC_ACCESS_NONE);
}

/* Asked after a fault: may the page be protected because of the library? By a live span (a run of
 * protected pages), or by one that has ended and whose system call is outstanding. */
bool sc_spans_cover(struct sc_spans *spans, uintptr_t address)
{
    SC_ASSERT_GUARDED(&spans->pool);
    uintptr_t page = address & ~spans->page_mask;
    unsigned stripe = sc_spans_stripe(spans, page);
    return sc_grid_find_at_locked(&spans->grid, page) != 0 ||
           is_in_list(spans, spans->unapplied[stripe], page, 1) ||
           is_in_list(spans, spans->due_ended[stripe], page, 1) ||
           is_in_list(spans, spans->refused[stripe], page, 1);
}

/* ---- areas ---- */

/* Gives the area the lock (stripe) meant for it, so that its system calls need not wait for those
 * elsewhere. Not while a span (a run of protected pages) is there: its system calls must be made in
 * order, under one lock. */
bool sc_spans_move_area(struct sc_spans *spans, uintptr_t address)
{
    SC_ASSERT_GUARDED(&spans->pool);
    uintptr_t start = address - (address - spans->striped_start) % SC_SPANS_AREA_BYTES;
    unsigned stripe = sc_spans_stripe(spans, start);
    bool any = is_in_list(spans, spans->unapplied[stripe], start, SC_SPANS_AREA_BYTES) ||
               is_in_list(spans, spans->due_ended[stripe], start, SC_SPANS_AREA_BYTES) ||
               is_in_list(spans, spans->refused[stripe], start, SC_SPANS_AREA_BYTES) ||
               sc_grid_find_any(&spans->grid, start, SC_SPANS_AREA_BYTES);
    if (!any)
        move_to_home_stripe(spans, start);
    return !any;
}

/* ---- fork ---- */

/* In a forked child nothing is protected, and nobody holds a stripe (pages that share a lock):
 * resets all that a parent's thread may have been changing. */
void sc_spans_forget(struct sc_spans *spans)
{
    sc_spans_locked_stripes = 0;
    for (unsigned stripe = 0; stripe < SC_SPANS_STRIPES; stripe++) {
        spans->due_begun[stripe] = (struct sc_access_change){0};
        atomic_store(&spans->due_ended[stripe], 0);
    }
    atomic_store(&spans->busy, 0);
    atomic_store(&spans->unapplied_count, 0);
    atomic_store(&spans->due, 0);
    atomic_store(&spans->due_stripes, 0);
    atomic_store(&spans->applied, 0);
    atomic_store(&spans->unapplied_stripes, 0);
    atomic_store(&spans->ending_stripes, 0);
    spans->unreadable = 0;
    spans->unreadable_unapplied = 0;
    sc_blocks_clear(&spans->ever);
}

/* In a forked child, whose only thread has unprotected the span's pages. Without the lock, which a
 * thread of the parent may have held. */
void sc_spans_note_inherited_unprotected(struct sc_spans *spans, uint32_t span)
{
    atomic_store(&sc_spans_at(spans, span)->used, false);
}

/* Does any record whose pages may be protected overlap the interval? Walks all records, since a
 * signal handler that asks may have interrupted a change of the lists. */
static bool any_record_has(struct sc_spans *spans, uintptr_t address, size_t size_bytes)
{
    struct sc_access_change pages;
    uint32_t span = 0;
    while (sc_spans_inherited(spans, &span, &pages))
        if (address - pages.address < pages.size_bytes || pages.address - address < size_bytes)
            return true;
    return false;
}

/* May the library protect pages there now? Asked by a signal handler, which cannot take the lock. A
 * page may move from one span (a run of protected pages) to a new one whose record the walk has
 * passed: if a span began meanwhile, the walk is repeated; if that goes on, the answer is yes, the
 * safe one. */
bool sc_spans_may_protect(struct sc_spans *spans, uintptr_t address, size_t size_bytes)
{
    for (unsigned attempt = 0; attempt < SEARCHES_MAX; attempt++) {
        uint32_t begun = sc_spans_begun(spans);
        if (any_record_has(spans, address, size_bytes))
            return true;
        if (sc_spans_begun(spans) == begun)
            return false;
    }
    return true;
}

/* Finds the next span (a run of protected pages) whose pages may still be protected. Walks all
 * records by id: the lists may be inconsistent, in a forked child or below a signal handler. */
bool sc_spans_inherited(struct sc_spans *spans, uint32_t *id, struct sc_access_change *change)
{
    while (++*id < sc_pool_first_unused(&spans->pool)) {
        struct sc_span *span = sc_spans_at(spans, *id);
        if (!atomic_load(&span->used))
            continue;
        *change = (struct sc_access_change){
            sc_span_start(span), sc_span_end(span) - sc_span_start(span), SC_ACCESS_ALL, *id};
        return true;
    }
    return false;
}
