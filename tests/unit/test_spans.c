/* Spans of pages and what settling them tells the kernel, against a model of pages; and staging. */
#include "common/pages.h"
#include "common/points.h"
#include "tests/unit/destroy.h"
#include "track/blocks.h"
#include "track/grid.h"
#include "track/order.h"
#include "track/order_calls.h"
#include "track/spans.h"
#include "track/staging.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/rounds.h"

enum { PAGES = 64, OPS = 12 };

static const uintptr_t base = (uintptr_t)5 << 32;

static struct sc_spans guards;
static uintptr_t page;
static enum sc_access pages[PAGES]; /* as the kernel has been told */
static unsigned told;               /* how often */

static void set_up(void)
{
    ck_assert_int_eq(sc_spans_init(&guards), 0);
    page = guards.page_mask + 1;
    memset(pages, 0, sizeof pages);
    told = 0;
}

/* As on aarch64, where the kernel may have such pages. */
static void set_up_large_pages(void)
{
    set_up();
    guards.page_mask = (64 << 10) - 1;
    page = guards.page_mask + 1;
}

static void tear_down(void)
{
    destroy_spans(&guards);
}

static uintptr_t at(unsigned first)
{
    return base + first * page;
}

static uint32_t add(uint32_t op, unsigned first, unsigned count, enum sc_access access,
                    uint32_t next)
{
    return sc_spans_add(&guards, (struct sc_span_owner){op, 1}, at(first), count * page, access,
                        next);
}

static void obey(const struct sc_access_change *change)
{
    if (change->size_bytes == 0)
        return;
    if (((change->address | change->size_bytes) & guards.page_mask) != 0 ||
        change->address < base || change->address + change->size_bytes > at(PAGES))
        ck_abort_msg("%zu bytes at %#zx", change->size_bytes, (size_t)change->address);
    for (uintptr_t i = 0; i < change->size_bytes / page; i++)
        pages[(change->address - base) / page + i] = change->access;
    told++;
}

static bool apply_step(void)
{
    struct sc_access_change change;
    unsigned stripe = sc_spans_stripe(&guards, base);
    bool more = sc_spans_apply(&guards, stripe, &change);
    if (!more && (change.size_bytes > 0 || guards.unapplied[stripe] != 0))
        ck_abort_msg("an end that is none");
    obey(&change);
    return more;
}

static void apply(void)
{
    while (apply_step())
        continue;
    if (guards.unapplied_count > 0 || guards.busy != guards.live || guards.due)
        ck_abort_msg("%u unapplied, %u of %u busy", guards.unapplied_count, guards.busy,
                     guards.live);
}

static void apply_but_refused(void)
{
    while (apply_step())
        continue;
}

/* The pages from the first on, a letter each: w all, r read, - none. */
static void check_pages(const char *expected)
{
    char found[PAGES + 1] = "";
    for (size_t i = 0; i < strlen(expected); i++)
        found[i] = "wr-"[pages[i]];
    ck_assert_str_eq(found, expected);
}

START_TEST(a_span_covers_every_page_that_its_bytes_touch)
{
    apply();
    uint32_t span =
        sc_spans_add(&guards, (struct sc_span_owner){7, 1}, at(2) - 1, page + 2, SC_ACCESS_NONE, 0);
    ck_assert_uint_ne(span, 0);
    ck_assert_uint_eq(sc_spans_at(&guards, span)->op, 7);
    ck_assert_uint_eq(sc_span_start(sc_spans_at(&guards, span)), at(1));
    ck_assert_uint_eq(sc_span_end(sc_spans_at(&guards, span)), at(4));
    check_pages("wwwww");
    apply();
    check_pages("w---w");
    sc_spans_end(&guards, span);
    check_pages("w---w");
    apply();
    check_pages("wwwww");
    ck_assert_uint_eq(told, 2);
}
END_TEST

START_TEST(nothing_is_no_span)
{
    ck_assert_uint_eq(
        sc_spans_add(&guards, (struct sc_span_owner){1, 1}, at(1), 0, SC_ACCESS_NONE, 0), 0);
    uint32_t span = add(1, 3, 1, SC_ACCESS_NONE, 0);
    ck_assert_uint_eq(
        sc_spans_add(&guards, (struct sc_span_owner){1, 1}, at(1), 0, SC_ACCESS_NONE, span), span);
    ck_assert_uint_eq(guards.live, 1);
}
END_TEST

START_TEST(the_least_that_is_allowed_counts)
{
    uint32_t reader = add(1, 0, 4, SC_ACCESS_READ, 0);
    uint32_t writer = add(2, 2, 4, SC_ACCESS_NONE, 0);
    apply();
    check_pages("rr----w");
    sc_spans_end(&guards, writer);
    apply();
    check_pages("rrrrwww");
    writer = add(2, 1, 2, SC_ACCESS_NONE, 0);
    apply();
    check_pages("r--rwww");
    sc_spans_end(&guards, reader);
    apply();
    check_pages("w--wwww");
    sc_spans_end(&guards, writer);
    apply();
    check_pages("wwwwwww");
}
END_TEST

START_TEST(what_is_in_force_already_is_not_told_again)
{
    add(1, 0, 8, SC_ACCESS_READ, 0);
    apply();
    ck_assert_uint_eq(told, 1);
    uint32_t second = add(2, 2, 3, SC_ACCESS_READ, 0);
    apply();
    sc_spans_end(&guards, second);
    apply();
    ck_assert_uint_eq(told, 1);
    check_pages("rrrrrrrr");
}
END_TEST

START_TEST(a_span_that_ends_before_it_is_settled_leaves_nothing)
{
    sc_spans_end(&guards, add(1, 0, 3, SC_ACCESS_NONE, 0));
    ck_assert_uint_eq(guards.live, 0);
    ck_assert_uint_eq(guards.busy, 1);
    apply();
    check_pages("www");
    ck_assert_uint_eq(guards.busy, 0);
}
END_TEST

START_TEST(a_span_that_ends_half_settled_leaves_nothing)
{
    add(1, 2, 1, SC_ACCESS_READ, 0);
    apply();
    uint32_t span = add(2, 0, 5, SC_ACCESS_NONE, 0);
    ck_assert(apply_step());
    check_pages("--rww");
    sc_spans_end(&guards, span);
    apply();
    check_pages("wwrww");
}
END_TEST

START_TEST(an_operation_ends_with_all_its_spans)
{
    uint32_t chain = add(1, 0, 1, SC_ACCESS_NONE, 0);
    chain = add(1, 2, 1, SC_ACCESS_NONE, chain);
    chain = add(1, 4, 1, SC_ACCESS_NONE, chain);
    apply();
    check_pages("-w-w-w");
    ck_assert_uint_eq(guards.live, 3);
    sc_spans_end(&guards, chain);
    apply();
    check_pages("wwwwww");
    sc_spans_end(&guards, 0);
}
END_TEST

START_TEST(a_cut_lets_go_of_the_pages_that_it_touches)
{
    uint32_t chain = add(9, 0, 8, SC_ACCESS_NONE, 0);
    apply();
    chain = sc_spans_cut(&guards, chain, at(3) + 5, page);
    apply();
    check_pages("---ww---");
    chain = sc_spans_cut(&guards, chain, at(3), 1);
    apply();
    check_pages("---ww---");
    chain = sc_spans_cut(&guards, chain, at(2), 4 * page);
    apply();
    check_pages("--wwww--");
    for (uint32_t id = chain; id; id = sc_spans_at(&guards, id)->next)
        ck_assert_uint_eq(sc_spans_at(&guards, id)->op, 9);
    chain = sc_spans_cut(&guards, chain, 0, SIZE_MAX - guards.page_mask);
    ck_assert_uint_eq(chain, 0);
    apply();
    check_pages("wwwwwwww");
}
END_TEST

START_TEST(a_cut_leaves_what_another_operation_wants)
{
    uint32_t own = add(1, 0, 6, SC_ACCESS_NONE, 0);
    add(2, 2, 2, SC_ACCESS_READ, 0);
    apply();
    own = sc_spans_cut(&guards, own, at(1), 4 * page);
    apply();
    check_pages("-wrrw-");
    sc_spans_end(&guards, own);
    apply();
    check_pages("wwrrww");
}
END_TEST

START_TEST(a_cut_of_an_unapplied_span_applies_the_rest)
{
    uint32_t chain = add(1, 0, 6, SC_ACCESS_READ, 0);
    sc_spans_cut(&guards, chain, at(2), 1);
    apply();
    check_pages("rrwrrr");
}
END_TEST

START_TEST(settling_goes_piece_by_piece)
{
    for (unsigned i = 0; i < 3; i++)
        add(i + 1, 2 * i + 1, 1, SC_ACCESS_NONE, 0);
    apply();
    told = 0;
    uint32_t wide = add(9, 0, 7, SC_ACCESS_READ, 0);
    ck_assert_uint_eq(guards.unapplied_count, 1);
    unsigned steps = 0;
    for (; apply_step(); steps++)
        ck_assert_int_eq(guards.unapplied_count == 0, steps == 7);
    ck_assert_uint_eq(steps, 8); /* seven pieces, and the step after the last */
    ck_assert_uint_eq(told, 4);
    check_pages("r-r-r-r");
    sc_spans_end(&guards, wide);
    apply();
    check_pages("w-w-w-w");
}
END_TEST

/* The first step that tells anything. */
static struct sc_access_change next_change(void)
{
    struct sc_access_change change;
    while (sc_spans_apply(&guards, 0, &change))
        if (change.size_bytes)
            return change;
    ck_abort_msg("nothing is told");
    return change;
}

START_TEST(thousands_of_spans_live)
{
    enum { MANY = 20000 };
    uint32_t chain = 0;
    struct sc_access_change change;
    for (unsigned i = 0; i < MANY; i++)
        chain = sc_spans_add(&guards, (struct sc_span_owner){1, 1}, at(4 * i), 3 * page,
                             SC_ACCESS_NONE, chain);
    ck_assert_uint_eq(guards.live, MANY);
    while (sc_spans_apply(&guards, 0, &change))
        continue;
    sc_spans_end(&guards, chain);
    while (sc_spans_apply(&guards, 0, &change))
        continue;
    ck_assert_uint_eq(guards.live, 0);
    ck_assert_uint_eq(guards.busy, 0);
}
END_TEST

START_TEST(what_cannot_be_protected_is_the_operations_to_end)
{
    uint32_t span = add(7, 0, 2, SC_ACCESS_NONE, 0);
    struct sc_access_change change = next_change();
    ck_assert_uint_eq(change.span, span);
    ck_assert_uint_eq(sc_spans_refuse(&guards, &change), 7);
    sc_spans_end(&guards, span);
    apply();
    check_pages("www");
    ck_assert(!sc_spans_retry(&guards, 0));
}
END_TEST

START_TEST(what_cannot_be_let_go_stays_covered_until_it_is)
{
    uint32_t span = add(7, 0, 2, SC_ACCESS_NONE, 0);
    apply();
    sc_spans_end(&guards, span);
    ck_assert(sc_spans_cover(&guards, at(1)));
    struct sc_access_change change = next_change();
    ck_assert_uint_eq(sc_spans_refuse(&guards, &change), 0);
    while (apply_step())
        continue;
    ck_assert(sc_spans_cover(&guards, at(1) + 5));
    ck_assert(!sc_spans_cover(&guards, at(2)));
    ck_assert_uint_eq(guards.unapplied_count, 1);
    ck_assert(sc_spans_retry(&guards, 0));
    apply();
    check_pages("www");
    ck_assert(!sc_spans_cover(&guards, at(1)));
    ck_assert(!sc_spans_retry(&guards, 0));
}
END_TEST

/* Four operations on the pages 1 to 4, a page each. */
static void add_row(uint32_t spans[4])
{
    for (unsigned i = 0; i < 4; i++)
        spans[i] = add(7 + i, 1 + i, 1, SC_ACCESS_NONE, 0);
    apply();
    check_pages("w----w");
    told = 0;
}

START_TEST(neighbours_that_end_together_are_let_go_together)
{
    uint32_t spans[4];
    add_row(spans);
    for (unsigned i = 0; i < 4; i++)
        sc_spans_end(&guards, spans[_i ? i : 3 - i]);
    apply();
    check_pages("wwwwww");
    ck_assert_uint_eq(told, 1);
}
END_TEST

START_TEST(what_another_operation_wants_is_not_let_go_with_neighbours)
{
    uint32_t spans[4];
    add_row(spans);
    uint32_t other = add(20, 2, 1, SC_ACCESS_READ, 0);
    apply();
    for (unsigned i = 0; i < 4; i++)
        sc_spans_end(&guards, spans[i]);
    apply();
    check_pages("wwrwww");
    sc_spans_end(&guards, other);
    apply();
    check_pages("wwwwww");
}
END_TEST

START_TEST(neighbours_of_what_cannot_be_let_go_are_let_go)
{
    uint32_t spans[4];
    add_row(spans);
    for (unsigned i = 0; i < 4; i++)
        sc_spans_end(&guards, spans[i]);
    struct sc_access_change change = next_change();
    ck_assert_uint_eq(change.size_bytes, 4 * page);
    ck_assert_uint_eq(sc_spans_refuse(&guards, &change), 0);
    while (apply_step())
        continue;
    check_pages("wwww-w");
    ck_assert(sc_spans_cover(&guards, at(4)));
    ck_assert_uint_eq(guards.unapplied_count, 1);
    ck_assert(sc_spans_retry(&guards, 0));
    apply();
    check_pages("wwwwww");
}
END_TEST

/* Even between the last change and the step that drops its record. */
/* From before the kernel is told that it may not be read until it has been told that it may. */
START_TEST(what_may_be_hidden_is_so_until_the_kernel_has_let_it_go)
{
    uint32_t read = add(1, 0, 8, SC_ACCESS_READ, 0);
    ck_assert(!sc_spans_may_forbid_reading(&guards, at(3), 8));
    uint32_t none = add(2, 4, 2, SC_ACCESS_NONE, 0);
    ck_assert(sc_spans_may_forbid_reading(&guards, at(5), 8));
    apply();
    ck_assert(sc_spans_may_forbid_reading(&guards, at(4) - 4, 8));
    ck_assert(!sc_spans_may_forbid_reading(&guards, at(3), page));
    ck_assert(!sc_spans_may_forbid_reading(&guards, at(6), page));
    sc_spans_end(&guards, read); /* unapplied, and readable all the time */
    ck_assert(!sc_spans_may_forbid_reading(&guards, at(3), page));
    sc_spans_end(&guards, none);
    ck_assert(sc_spans_may_forbid_reading(&guards, at(5), 8));
    apply();
    ck_assert(!sc_spans_may_forbid_reading(&guards, at(5), 8));
    ck_assert_uint_eq(guards.unreadable + guards.unreadable_unapplied, 0);
}
END_TEST

START_TEST(what_the_kernel_will_not_let_go_of_may_be_hidden)
{
    struct sc_access_change change;
    uint32_t none = add(1, 4, 3, SC_ACCESS_NONE, 0);
    apply();
    none = sc_spans_cut(&guards, none, at(5), 1);
    ck_assert(sc_spans_apply(&guards, 0, &change));
    while (change.size_bytes == 0)
        ck_assert(sc_spans_apply(&guards, 0, &change));
    ck_assert_uint_eq(sc_spans_refuse(&guards, &change), 0);
    apply_but_refused();
    ck_assert(sc_spans_may_forbid_reading(&guards, at(5), 8));
    ck_assert(sc_spans_retry(&guards, 0));
    apply();
    ck_assert(!sc_spans_may_forbid_reading(&guards, at(5), 8));
    sc_spans_end(&guards, none);
    apply();
    ck_assert_uint_eq(guards.unreadable + guards.unreadable_unapplied, 0);
}
END_TEST

START_TEST(a_page_is_covered_from_before_it_is_protected_until_it_is_let_go)
{
    ck_assert(!sc_spans_cover(&guards, at(0)));
    uint32_t span = add(7, 0, 1, SC_ACCESS_NONE, 0);
    ck_assert(sc_spans_cover(&guards, at(0)));
    apply();
    ck_assert(sc_spans_cover(&guards, at(0)));
    sc_spans_end(&guards, span);
    struct sc_access_change change = next_change();
    ck_assert(sc_spans_cover(&guards, at(0)));
    obey(&change);
    while (apply_step())
        continue;
    ck_assert(!sc_spans_cover(&guards, at(0)));
}
END_TEST

static atomic_bool moving;

/* There is always a span of the page, in a low record or behind many that are in use. */
static void *move_on(void *argument)
{
    uint32_t low = *(uint32_t *)argument, high = 0;
    for (int round = rounds(20000); round > 0; round--) {
        high = add(1, 0, 1, SC_ACCESS_NONE, 0);
        sc_spans_end(&guards, low);
        apply();
        low = add(1, 0, 1, SC_ACCESS_NONE, 0);
        sc_spans_end(&guards, high);
        apply();
    }
    atomic_store(&moving, false);
    return NULL;
}

START_TEST(a_page_that_goes_from_span_to_span_is_seen_without_the_lock)
{
    pthread_t mover;
    uint32_t low = add(1, 0, 1, SC_ACCESS_NONE, 0);
    for (unsigned i = 0; i < 200; i++)
        add(2 + i, 1 + i % (PAGES - 1), 1, SC_ACCESS_READ, 0);
    apply();
    ck_assert(!sc_spans_may_protect(&guards, at(PAGES), 1));
    atomic_store(&moving, true);
    ck_assert_int_eq(pthread_create(&mover, NULL, move_on, &low), 0);
    unsigned missed = 0;
    while (atomic_load(&moving))
        missed += !sc_spans_may_protect(&guards, at(0), 1);
    pthread_join(mover, NULL);
    ck_assert_uint_eq(missed, 0);
}
END_TEST

START_TEST(what_was_never_near_is_known_to_be_far)
{
    ck_assert(!sc_blocks_may_hold(&guards.ever, base, 1));
    uint32_t span = add(1, 1, 1, SC_ACCESS_READ, 0);
    ck_assert(sc_blocks_may_hold(&guards.ever, at(0), 1));
    sc_spans_end(&guards, span);
    apply();
    ck_assert(sc_blocks_may_hold(&guards.ever, at(2), 1));
    unsigned near = 0;
    for (uintptr_t i = 1; i <= 4096; i++)
        near += sc_blocks_may_hold(&guards.ever, base + (i << 30), 1);
    ck_assert_uint_lt(near, 64); /* one hash in 4096 collides */
    span = sc_spans_add(&guards, (struct sc_span_owner){1, 1}, base << 4, (size_t)64 << 20,
                        SC_ACCESS_READ, 0);
    for (uintptr_t offset = 0; offset < (uintptr_t)64 << 20; offset += 1 << 20)
        ck_assert(sc_blocks_may_hold(&guards.ever, (base << 4) + offset, 1));
}
END_TEST

/* ---- against a model ---- */

static struct {
    uint32_t first;
    enum sc_access want[PAGES];
} ops[OPS];

static void model_add(unsigned op, unsigned first, unsigned count)
{
    enum sc_access access = random() % 2 ? SC_ACCESS_READ : SC_ACCESS_NONE;
    uintptr_t skipped = (uintptr_t)random() % page;
    uintptr_t left_out = (uintptr_t)random() % (count > 1 ? page : page - skipped);
    ops[op].first = sc_spans_add(&guards, (struct sc_span_owner){op + 1, 1}, at(first) + skipped,
                                 count * page - skipped - left_out, access, ops[op].first);
    for (unsigned i = first; i < first + count; i++)
        if (ops[op].want[i] < access)
            ops[op].want[i] = access;
}

static void model_cut(unsigned op, unsigned first, unsigned count)
{
    ops[op].first =
        sc_spans_cut(&guards, ops[op].first, at(first) + page - 1, (count - 1) * page + 1);
    for (unsigned i = first; i < first + count; i++)
        ops[op].want[i] = SC_ACCESS_ALL;
}

static void model_end(unsigned op)
{
    sc_spans_end(&guards, ops[op].first);
    memset(&ops[op], 0, sizeof ops[op]);
}

static void model_compare(void)
{
    apply();
    for (unsigned i = 0; i < PAGES; i++) {
        enum sc_access least = SC_ACCESS_ALL;
        for (unsigned op = 0; op < OPS; op++)
            if (ops[op].want[i] > least)
                least = ops[op].want[i];
        if (pages[i] != least)
            ck_abort_msg("page %u has access %d, not %d", i, (int)pages[i], (int)least);
    }
}

static void model_act(void)
{
    unsigned op = (unsigned)random() % OPS;
    unsigned first = (unsigned)random() % PAGES;
    unsigned count = 1 + (unsigned)random() % (random() % 2 ? 4 : PAGES);
    if (count > PAGES - first)
        count = PAGES - first;
    switch (random() % 8) {
    case 0:
    case 1:
    case 2:
        model_add(op, first, count);
        break;
    case 3:
        model_cut(op, first, count);
        break;
    case 4:
    case 5:
        model_end(op);
        break;
    case 6:
        for (unsigned steps = 1 + (unsigned)random() % 6; steps > 0; steps--)
            apply_step();
        break;
    default:
        model_compare();
    }
}

/* Settling goes on while spans come and go: one step at a time, or all of it. */
static unsigned inherited(void)
{
    struct sc_access_change change;
    unsigned count = 0;
    for (uint32_t span = 0; sc_spans_inherited(&guards, &span, &change); count++) {
        obey(&change);
        sc_spans_note_inherited_unprotected(&guards, span);
    }
    return count;
}

START_TEST(a_child_lets_go_of_what_may_be_protected)
{
    uint32_t cut = add(1, 0, 5, SC_ACCESS_NONE, 0);
    uint32_t ended = add(2, 6, 2, SC_ACCESS_READ, 0);
    uint32_t gone = add(3, 9, 1, SC_ACCESS_READ, 0);
    apply();
    sc_spans_end(&guards, gone);
    apply();
    sc_spans_cut(&guards, cut, at(2), page);
    sc_spans_end(&guards, ended);
    check_pages("-----wrrww");
    ck_assert_uint_eq(inherited(), 4); /* the whole, what is left of it, the one that ended */
    check_pages("wwwwwwwwww");
    sc_spans_forget(&guards);
    ck_assert_uint_eq(guards.busy, 0);
    ck_assert(!sc_blocks_may_hold(&guards.ever, at(0), 1));
    ck_assert_uint_eq(inherited(), 0);
}
END_TEST

START_TEST(pages_agree_with_a_model)
{
    srandom(11);
    for (unsigned left = rounds(200000); left > 0; left--)
        model_act();
    for (unsigned op = 0; op < OPS; op++)
        model_end(op);
    model_compare();
    ck_assert_uint_eq(guards.live, 0);
    ck_assert_uint_eq(guards.pool.live, 0);
    ck_assert(sc_grid_is_empty(&guards.grid));
}
END_TEST

/* ---- stripes that are attended ---- */

static const uint64_t own_stripe = 2;

static void set_up_stripes(void)
{
    set_up();
    sc_spans_set_stripes(&guards, base, (size_t)4 * SC_SPANS_AREA_BYTES,
                         (size_t)4 * SC_SPANS_AREA_BYTES);
    ck_assert_uint_eq(sc_spans_home_stripe(&guards, base), 1);
}

/* What the thread does that has attended, when it has given back the owner's lock. */
static unsigned tell_due(void)
{
    struct sc_access_change change;
    unsigned changes = 0;
    for (; sc_spans_next_due(&guards, 1, &change); changes++) {
        obey(&change);
        sc_spans_note_applied(&guards, 1, &change);
    }
    return changes;
}

START_TEST(what_begins_and_ends_in_an_attended_stripe_is_due)
{
    sc_spans_locked_stripes = own_stripe;
    uint32_t span = add(1, 0, 2, SC_ACCESS_NONE, 0);
    sc_spans_locked_stripes = 0;
    ck_assert_uint_eq(guards.unapplied_count, 0);
    ck_assert(sc_spans_any_due(&guards));
    ck_assert(sc_spans_cover(&guards, at(0)));
    ck_assert_uint_eq(sc_spans_stripes_of_stream(&guards, 1), own_stripe);
    ck_assert_uint_eq(tell_due(), 1);
    check_pages("--www");
    sc_spans_locked_stripes = own_stripe;
    sc_spans_end(&guards, span);
    sc_spans_locked_stripes = 0;
    ck_assert_uint_eq(sc_spans_stripes_of_stream(&guards, 1), 0);
    ck_assert(sc_spans_cover(&guards, at(1)));
    ck_assert(sc_spans_may_forbid_reading(&guards, at(1), 1));
    ck_assert(!sc_spans_may_forbid_reading(&guards, at(2), 1));
    ck_assert_uint_eq(tell_due(), 1);
    check_pages("wwwww");
    ck_assert(!sc_spans_cover(&guards, at(1)));
    ck_assert(!sc_spans_may_forbid_reading(&guards, at(1), 1));
    ck_assert(!sc_spans_any_due(&guards));
    ck_assert_uint_eq(guards.busy, 0);
}
END_TEST

START_TEST(spans_that_end_together_are_told_of_together)
{
    uint32_t first = add(1, 0, 2, SC_ACCESS_NONE, 0);
    uint32_t both = add(1, 2, 2, SC_ACCESS_NONE, first);
    apply();
    told = 0;
    sc_spans_locked_stripes = own_stripe;
    sc_spans_end(&guards, both);
    sc_spans_locked_stripes = 0;
    ck_assert_uint_eq(tell_due(), 1);
    check_pages("wwwww");
}
END_TEST

/* An area of stripe 0 behind two that have stripes. */
static void set_up_areas(void)
{
    set_up();
    sc_spans_set_stripes(&guards, base, (size_t)6 * SC_SPANS_AREA_BYTES,
                         (size_t)2 * SC_SPANS_AREA_BYTES);
}

static uintptr_t area(unsigned i)
{
    return base + (uintptr_t)i * SC_SPANS_AREA_BYTES;
}

static unsigned chain_length(uint32_t span)
{
    unsigned length = 0;
    for (; span; span = sc_spans_at(&guards, span)->next)
        length++;
    return length;
}

static uint32_t add_areas(unsigned first, unsigned count)
{
    return sc_spans_add(&guards, (struct sc_span_owner){1, 1}, area(first),
                        count * (size_t)SC_SPANS_AREA_BYTES, SC_ACCESS_NONE, 0);
}

START_TEST(an_interval_has_a_span_for_each_stripe)
{
    ck_assert_uint_eq(chain_length(add_areas(0, 1)), 1);
    ck_assert_uint_eq(chain_length(add_areas(0, 2)), 2);
    ck_assert_uint_eq(chain_length(add_areas(2, 4)), 1);
    ck_assert_uint_eq(chain_length(add_areas(0, 6)), 3);
    uint32_t span = sc_spans_add(&guards, (struct sc_span_owner){1, 1}, area(6) - page, 3 * page,
                                 SC_ACCESS_NONE, 0);
    ck_assert_uint_eq(chain_length(span), 1);
    span = sc_spans_add(&guards, (struct sc_span_owner){1, 1}, base - page, 3 * page,
                        SC_ACCESS_NONE, 0);
    ck_assert_uint_eq(chain_length(span), 2);
    ck_assert(sc_spans_may_forbid_reading(&guards, area(1), 2 * (size_t)SC_SPANS_AREA_BYTES));
}
END_TEST

START_TEST(an_area_gets_its_stripe_while_nothing_is_there)
{
    uint32_t span = sc_spans_add(&guards, (struct sc_span_owner){1, 1}, area(4) + page, page,
                                 SC_ACCESS_READ, 0);
    ck_assert(!sc_spans_move_area(&guards, area(4) + 3 * page));
    ck_assert(sc_spans_move_area(&guards, area(3) + 3 * page));
    ck_assert_uint_eq(sc_spans_stripe(&guards, area(3)), sc_spans_home_stripe(&guards, area(3)));
    ck_assert_uint_eq(sc_spans_stripe(&guards, area(4) - 1), sc_spans_stripe(&guards, area(3)));
    ck_assert_uint_eq(sc_spans_stripe(&guards, area(4)), 0);
    sc_spans_end(&guards, span);
    ck_assert(!sc_spans_move_area(&guards, area(4)));
    struct sc_access_change change;
    while (sc_spans_apply(&guards, 0, &change))
        ;
    ck_assert(sc_spans_move_area(&guards, area(4)));
    ck_assert_uint_eq(chain_length(add_areas(2, 4)), 4);
}
END_TEST

START_TEST(what_ends_in_another_stripe_is_unapplied)
{
    uint32_t span = add(1, 0, 2, SC_ACCESS_NONE, 0);
    apply();
    sc_spans_locked_stripes = own_stripe << 1;
    sc_spans_end(&guards, span);
    sc_spans_locked_stripes = 0;
    ck_assert_uint_eq(guards.unapplied_count, 1);
    ck_assert_uint_eq(tell_due(), 0);
    apply();
    check_pages("wwwww");
}
END_TEST

START_TEST(what_is_due_and_refused_is_unapplied)
{
    struct sc_access_change change;
    uint32_t span = add(1, 0, 2, SC_ACCESS_NONE, 0);
    apply();
    sc_spans_locked_stripes = own_stripe;
    sc_spans_end(&guards, span);
    sc_spans_locked_stripes = 0;
    ck_assert(sc_spans_next_due(&guards, 1, &change));
    ck_assert(sc_spans_postpone(&guards, 1, &change));
    ck_assert(!sc_spans_any_due(&guards));
    ck_assert(sc_spans_cover(&guards, at(0)));
    apply();
    check_pages("wwwww");
    sc_spans_locked_stripes = own_stripe;
    add(7, 0, 2, SC_ACCESS_READ, 0);
    sc_spans_locked_stripes = 0;
    ck_assert(sc_spans_next_due(&guards, 1, &change));
    ck_assert(!sc_spans_postpone(&guards, 1, &change));
    ck_assert_uint_eq(sc_spans_refuse(&guards, &change), 7);
}
END_TEST

/* A page that the kernel keeps off is somebody's, and is known to be. */
static void model_check_covered(void)
{
    for (unsigned i = 0; i < PAGES; i++) {
        if (pages[i] != SC_ACCESS_ALL && !sc_spans_cover(&guards, at(i)))
            ck_abort_msg("page %u is kept off for nobody", i);
        if (pages[i] == SC_ACCESS_NONE && !sc_spans_may_forbid_reading(&guards, at(i), 1))
            ck_abort_msg("page %u is hidden, and not known to be", i);
    }
}

static void model_change(void)
{
    unsigned op = (unsigned)random() % OPS;
    unsigned first = (unsigned)random() % PAGES;
    unsigned count = 1 + (unsigned)random() % 4;
    if (count > PAGES - first)
        count = PAGES - first;
    switch (random() % 4) {
    case 0:
    case 1:
        model_add(op, first, count);
        break;
    case 2:
        model_cut(op, first, count);
        break;
    default:
        model_end(op);
    }
}

static void model_refuse(const struct sc_access_change *change)
{
    if (sc_spans_postpone(&guards, 1, change))
        return;
    uint32_t op = sc_spans_refuse(&guards, change);
    if (op)
        model_end(op - 1);
    while (sc_spans_retry(&guards, 1))
        apply();
}

/* Between the step and what is told of it other threads take steps of their own. */
static void model_attend(void)
{
    struct sc_access_change change;
    sc_spans_locked_stripes = own_stripe;
    for (unsigned changes = (unsigned)random() % 4; changes > 0; changes--)
        model_change();
    sc_spans_locked_stripes = 0;
    model_check_covered();
    if (random() % 2)
        model_change();
    for (; sc_spans_next_due(&guards, 1, &change); model_check_covered()) {
        if (random() % 8 == 0) {
            model_refuse(&change);
            continue;
        }
        obey(&change);
        if (random() % 4 == 0)
            model_change();
        sc_spans_note_applied(&guards, 1, &change);
    }
}

START_TEST(pages_of_attended_stripes_agree_with_a_model)
{
    memset(ops, 0, sizeof ops);
    srandom((unsigned)_i + 100);
    for (int round = rounds(4000); round > 0; round--) {
        model_attend();
        if (random() % 3 == 0)
            model_change();
        if (random() % 4 == 0)
            model_compare();
    }
    for (unsigned op = 0; op < OPS; op++)
        model_end(op);
    model_compare();
    ck_assert_uint_eq(guards.busy, 0);
}
END_TEST

/* ---- staging ---- */

enum { SNAPSHOT_BYTES = 20000, LARGE_BYTES = 20480, SMALL_BYTES = 4096 };

static struct sc_order order;
static struct sc_staging staging;
static uint32_t stream;
static struct {
    struct sc_staging_block block;
    void *memory, *records;
} blocks[SC_STAGING_CLASSES];

static bool add_block(size_t size_bytes)
{
    struct sc_staging_block block;
    if (!sc_staging_next_block(&staging, size_bytes, &block))
        return false;
    void *memory = calloc(1, block.bytes);
    void *records = calloc(1, block.record_bytes);
    ck_assert(memory && records);
    blocks[block.size_class].block = block;
    blocks[block.size_class].memory = memory;
    blocks[block.size_class].records = records;
    sc_staging_add(&staging, &block, memory, records);
    return true;
}

static void set_up_staging(void)
{
    sc_order_init(&order);
    stream = sc_order_add(&order, SC_STREAM_NONBLOCKING, sc_order_add(&order, SC_STREAM_LEGACY, 0));
    sc_staging_init(&staging, &order, SNAPSHOT_BYTES);
    ck_assert(add_block(1) && add_block(LARGE_BYTES));
}

static void tear_down_staging(void)
{
    for (unsigned c = 0; c < SC_STAGING_CLASSES; c++) {
        free(blocks[c].memory);
        free(blocks[c].records);
    }
    memset(blocks, 0, sizeof blocks);
    destroy_order(&order);
}

static void set_up_staging_for(size_t snapshot_bytes)
{
    tear_down_staging();
    sc_order_init(&order);
    sc_staging_init(&staging, &order, snapshot_bytes);
}

static void complete(const struct sc_ticket *ticket)
{
    atomic_store(&sc_order_stream(&order, ticket->stream)->complete, ticket->number);
}

static unsigned take_all(size_t size_bytes)
{
    unsigned count = 0;
    while (sc_staging_take(&staging, size_bytes))
        count++;
    return count;
}

static bool lies_in_block(const struct sc_slot *slot, size_t size_bytes)
{
    const unsigned char *first = blocks[slot->size_class].memory;
    const unsigned char *bytes = slot->bytes;
    return bytes >= first && bytes + size_bytes <= first + blocks[slot->size_class].block.bytes;
}

START_TEST(slots_lie_in_the_memory_and_apart)
{
    unsigned large = 0;
    for (struct sc_slot *slot; (slot = sc_staging_take(&staging, LARGE_BYTES)) != NULL; large++) {
        ck_assert(lies_in_block(slot, LARGE_BYTES));
        ck_assert_int_eq(*(unsigned char *)slot->bytes, 0);
        memset(slot->bytes, 1, LARGE_BYTES);
    }
    for (struct sc_slot *slot; (slot = sc_staging_take(&staging, 1)) != NULL;) {
        ck_assert(lies_in_block(slot, SMALL_BYTES));
        ck_assert_int_eq(*(unsigned char *)slot->bytes, 0);
        memset(slot->bytes, 1, SMALL_BYTES);
    }
    ck_assert_uint_eq(large, SC_STAGING_BLOCK_BYTES / LARGE_BYTES);
    for (unsigned c = 0; c < SC_STAGING_CLASSES; c++)
        if (blocks[c].memory)
            ck_assert_ptr_null(memchr(blocks[c].memory, 0, blocks[c].block.bytes));
}
END_TEST

START_TEST(small_ones_come_first_and_large_ones_serve_both)
{
    ck_assert_ptr_null(sc_staging_take(&staging, LARGE_BYTES + 1));
    ck_assert_uint_eq(sc_staging_take(&staging, SMALL_BYTES)->size_class, 0);
    ck_assert_uint_eq(sc_staging_take(&staging, SMALL_BYTES + 1)->size_class, 1);
    unsigned small = SC_STAGING_BLOCK_BYTES / SMALL_BYTES;
    unsigned large = SC_STAGING_BLOCK_BYTES / LARGE_BYTES;
    ck_assert_uint_eq(take_all(1), small + large - 2);
    ck_assert_ptr_null(sc_staging_take(&staging, LARGE_BYTES));
}
END_TEST

START_TEST(records_may_go_when_every_slot_is_back)
{
    struct sc_ticket ticket = sc_order_issue(&order, stream);
    struct sc_slot *first = sc_staging_take(&staging, 1);
    struct sc_slot *second = sc_staging_take(&staging, LARGE_BYTES);
    ck_assert_ptr_null(sc_staging_take(&staging, LARGE_BYTES + 1));
    sc_staging_release(second, &ticket);
    ck_assert(!sc_staging_has_all_slots(&staging));
    sc_staging_release(first, &ticket);
    ck_assert(sc_staging_has_all_slots(&staging));
}
END_TEST

START_TEST(snapshots_of_a_page_need_one_class)
{
    set_up_staging_for(100);
    ck_assert(!add_block(SMALL_BYTES + 1));
    ck_assert(add_block(100));
    ck_assert_uint_eq(take_all(100), SC_STAGING_BLOCK_BYTES / SMALL_BYTES);
}
END_TEST

START_TEST(a_huge_snapshot_has_a_few_slots)
{
    size_t huge = (size_t)3 << 20;
    set_up_staging_for(huge);
    ck_assert(add_block(huge));
    ck_assert_uint_eq(take_all(huge), 8);
}
END_TEST

START_TEST(a_block_beyond_the_limit_is_not_asked_for)
{
    struct sc_staging_block block;
    size_t most = SC_STAGING_CLASS_MAX / 4;
    sc_staging_init(&staging, &order, most);
    ck_assert(sc_staging_next_block(&staging, most, &block));
    sc_staging_init(&staging, &order, most + 1);
    ck_assert(!sc_staging_next_block(&staging, most + 1, &block));
    ck_assert(sc_staging_next_block(&staging, 1, &block));
}
END_TEST

/* Each block is as large as those before it together, up to 16 MB. */
START_TEST(a_class_grows_up_to_a_limit)
{
    enum { BLOCK_MAX = 16 << 20, BLOCKS = 7 };
    static struct sc_slot spare[BLOCK_MAX / SMALL_BYTES];
    struct sc_staging_block block;
    unsigned added = 1; /* by the fixture */
    size_t bytes = SC_STAGING_BLOCK_BYTES;
    while (sc_staging_next_block(&staging, 1, &block)) {
        ck_assert_uint_eq(block.bytes, bytes < BLOCK_MAX ? bytes : BLOCK_MAX);
        ck_assert_uint_eq(block.record_bytes, block.bytes / SMALL_BYTES * sizeof *spare);
        sc_staging_add(&staging, &block, blocks[0].memory, spare);
        added++;
        bytes += block.bytes;
    }
    ck_assert_uint_eq(added, BLOCKS);
    ck_assert_uint_eq(bytes, SC_STAGING_CLASS_MAX);
    ck_assert(sc_staging_next_block(&staging, LARGE_BYTES, &block));
}
END_TEST

START_TEST(a_slot_comes_back_when_its_operation_is_complete)
{
    struct sc_slot *slot = sc_staging_take(&staging, LARGE_BYTES);
    take_all(LARGE_BYTES);
    struct sc_ticket ticket = sc_order_issue(&order, stream);
    sc_staging_release(slot, &ticket);
    ck_assert_ptr_null(sc_staging_take(&staging, LARGE_BYTES));
    complete(&ticket);
    ck_assert_ptr_eq(sc_staging_take(&staging, LARGE_BYTES), slot);
    ck_assert_ptr_null(sc_staging_take(&staging, LARGE_BYTES));
}
END_TEST

START_TEST(known_done_is_complete_too)
{
    struct sc_slot *slot = sc_staging_take(&staging, LARGE_BYTES);
    take_all(LARGE_BYTES);
    struct sc_ticket ticket = sc_order_issue(&order, stream);
    sc_staging_release(slot, &ticket);
    struct sc_point point = sc_order_point(&order, stream);
    sc_order_note_known(&order, &point);
    sc_order_release_point(&order, &point);
    ck_assert_ptr_eq(sc_staging_take(&staging, LARGE_BYTES), slot);
}
END_TEST

START_TEST(a_slot_that_was_not_used_comes_back_at_once)
{
    struct sc_slot *slot = sc_staging_take(&staging, 1);
    struct sc_ticket none = slot->ticket;
    ck_assert_uint_eq(none.stream, 0);
    sc_staging_release(slot, &none);
    ck_assert_ptr_eq(sc_staging_take(&staging, 1), slot);
}
END_TEST

START_TEST(the_last_complete_one_is_handed_out_first)
{
    struct sc_slot *slots[3];
    for (int i = 0; i < 3; i++)
        slots[i] = sc_staging_take(&staging, 1);
    for (int i = 0; i < 3; i++) {
        struct sc_ticket ticket = sc_order_issue(&order, stream);
        complete(&ticket);
        sc_staging_release(slots[i], &ticket);
    }
    for (int i = 2; i >= 0; i--)
        ck_assert_ptr_eq(sc_staging_take(&staging, 1), slots[i]);
}
END_TEST

START_TEST(a_running_one_keeps_its_stream_from_being_recycled)
{
    struct sc_ticket ticket = sc_order_issue(&order, stream);
    struct sc_slot *slot = sc_staging_take(&staging, LARGE_BYTES);
    sc_staging_release(slot, &ticket);
    sc_order_remove(&order, stream);
    ck_assert_uint_ne(sc_order_add(&order, SC_STREAM_NONBLOCKING, 1), stream);
    complete(&ticket);
    ck_assert_uint_eq(take_all(LARGE_BYTES), SC_STAGING_BLOCK_BYTES / LARGE_BYTES);
    ck_assert_uint_eq(sc_order_stream(&order, stream)->references, 0);
}
END_TEST

START_TEST(staging_that_ends_keeps_no_stream)
{
    struct sc_ticket ticket = sc_order_issue(&order, stream);
    sc_staging_release(sc_staging_take(&staging, LARGE_BYTES), &ticket);
    ck_assert_uint_eq(sc_order_stream(&order, stream)->references, 1);
    sc_staging_end(&staging);
    ck_assert_uint_eq(sc_order_stream(&order, stream)->references, 0);
}
END_TEST

START_TEST(running_ones_do_not_hide_complete_ones)
{
    struct sc_ticket running = sc_order_issue(&order, stream);
    struct sc_slot *slots[SC_STAGING_BLOCK_BYTES / LARGE_BYTES];
    unsigned count = sizeof slots / sizeof *slots;
    for (unsigned i = 0; i < count; i++)
        slots[i] = sc_staging_take(&staging, LARGE_BYTES);
    uint32_t other =
        sc_order_add(&order, SC_STREAM_NONBLOCKING, sc_order_stream(&order, stream)->context);
    struct sc_ticket last = sc_order_issue(&order, other);
    for (unsigned i = 0; i < count; i++)
        sc_staging_release(slots[i], i == count / 2 ? &last : &running);
    complete(&last);
    /* A call looks at a few only; those that still run go to the end. */
    struct sc_slot *found = NULL;
    for (unsigned calls = 0; calls < count && !found; calls++)
        found = sc_staging_take(&staging, LARGE_BYTES);
    ck_assert_ptr_eq(found, slots[count / 2]);
    ck_assert_uint_eq(take_all(LARGE_BYTES), 0);
    complete(&running);
    ck_assert_uint_eq(take_all(LARGE_BYTES), count - 1);
}
END_TEST

static void add_tests_of_pages(Suite *suite, const char *name, SFun set_up_pages)
{
    TCase *group = tcase_create(name);
    tcase_add_checked_fixture(group, set_up_pages, tear_down);
    tcase_set_timeout(group, 120);
    tcase_add_test(group, a_span_covers_every_page_that_its_bytes_touch);
    tcase_add_test(group, nothing_is_no_span);
    tcase_add_test(group, the_least_that_is_allowed_counts);
    tcase_add_test(group, what_is_in_force_already_is_not_told_again);
    tcase_add_test(group, a_span_that_ends_before_it_is_settled_leaves_nothing);
    tcase_add_test(group, a_span_that_ends_half_settled_leaves_nothing);
    tcase_add_test(group, an_operation_ends_with_all_its_spans);
    tcase_add_test(group, a_cut_lets_go_of_the_pages_that_it_touches);
    tcase_add_test(group, a_cut_leaves_what_another_operation_wants);
    tcase_add_test(group, a_cut_of_an_unapplied_span_applies_the_rest);
    tcase_add_test(group, settling_goes_piece_by_piece);
    tcase_add_test(group, thousands_of_spans_live);
    tcase_add_test(group, what_cannot_be_protected_is_the_operations_to_end);
    tcase_add_test(group, what_cannot_be_let_go_stays_covered_until_it_is);
    tcase_add_loop_test(group, neighbours_that_end_together_are_let_go_together, 0, 2);
    tcase_add_test(group, what_another_operation_wants_is_not_let_go_with_neighbours);
    tcase_add_test(group, neighbours_of_what_cannot_be_let_go_are_let_go);
    tcase_add_test(group, what_may_be_hidden_is_so_until_the_kernel_has_let_it_go);
    tcase_add_test(group, what_the_kernel_will_not_let_go_of_may_be_hidden);
    tcase_add_test(group, a_page_is_covered_from_before_it_is_protected_until_it_is_let_go);
    tcase_add_test(group, a_page_that_goes_from_span_to_span_is_seen_without_the_lock);
    tcase_add_test(group, what_was_never_near_is_known_to_be_far);
    tcase_add_test(group, a_child_lets_go_of_what_may_be_protected);
    tcase_add_test(group, pages_agree_with_a_model);
    suite_add_tcase(suite, group);
}

static void add_span_tests(Suite *suite)
{
    add_tests_of_pages(suite, "spans", set_up);
    add_tests_of_pages(suite, "spans, pages of 64 KB", set_up_large_pages);
    TCase *group = tcase_create("areas");
    tcase_add_checked_fixture(group, set_up_areas, tear_down);
    tcase_add_test(group, an_interval_has_a_span_for_each_stripe);
    tcase_add_test(group, an_area_gets_its_stripe_while_nothing_is_there);
    suite_add_tcase(suite, group);
    group = tcase_create("attended stripes");
    tcase_add_checked_fixture(group, set_up_stripes, tear_down);
    tcase_add_test(group, what_begins_and_ends_in_an_attended_stripe_is_due);
    tcase_add_test(group, spans_that_end_together_are_told_of_together);
    tcase_add_test(group, what_ends_in_another_stripe_is_unapplied);
    tcase_add_test(group, what_is_due_and_refused_is_unapplied);
    tcase_add_loop_test(group, pages_of_attended_stripes_agree_with_a_model, 0, 4);
    suite_add_tcase(suite, group);
}

static TCase *staging_tests(void)
{
    TCase *group = tcase_create("staging");
    tcase_add_checked_fixture(group, set_up_staging, tear_down_staging);
    tcase_add_test(group, slots_lie_in_the_memory_and_apart);
    tcase_add_test(group, small_ones_come_first_and_large_ones_serve_both);
    tcase_add_test(group, records_may_go_when_every_slot_is_back);
    tcase_add_test(group, snapshots_of_a_page_need_one_class);
    tcase_add_test(group, a_huge_snapshot_has_a_few_slots);
    tcase_add_test(group, a_block_beyond_the_limit_is_not_asked_for);
    tcase_add_test(group, a_class_grows_up_to_a_limit);
    tcase_add_test(group, a_slot_comes_back_when_its_operation_is_complete);
    tcase_add_test(group, known_done_is_complete_too);
    tcase_add_test(group, a_slot_that_was_not_used_comes_back_at_once);
    tcase_add_test(group, the_last_complete_one_is_handed_out_first);
    tcase_add_test(group, a_running_one_keeps_its_stream_from_being_recycled);
    tcase_add_test(group, staging_that_ends_keeps_no_stream);
    tcase_add_test(group, running_ones_do_not_hide_complete_ones);
    return group;
}

int main(void)
{
    Suite *suite = suite_create("guard");
    add_span_tests(suite);
    suite_add_tcase(suite, staging_tests());
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
