/* The happens-before engine: every way in which the host, or a stream, comes to know something. */
#include "common/points.h"
#include "tests/unit/destroy.h"
#include "track/order.h"
#include "track/order_calls.h"
#include "track/tracker.h"

#include <check.h>
#include <stdlib.h>

static struct sc_order order;
static uint32_t legacy, other_legacy;

static uint32_t add(enum sc_stream_kind kind)
{
    return sc_order_add(&order, kind, legacy);
}

static void set_up(void)
{
    sc_order_init(&order);
    legacy = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    other_legacy = sc_order_add(&order, SC_STREAM_LEGACY, 0);
}

static void tear_down(void)
{
    destroy_order(&order);
}

static struct sc_ticket issue(uint32_t stream)
{
    return sc_order_issue(&order, stream);
}

static bool done(struct sc_ticket ticket)
{
    return sc_order_known_done(&order, &ticket);
}

static bool covers(uint32_t stream, struct sc_ticket ticket)
{
    return sc_order_covers(&order, stream, &ticket);
}

static struct sc_point point_of(uint32_t stream)
{
    return sc_order_point(&order, stream);
}

static void know(struct sc_point point)
{
    sc_order_note_known(&order, &point);
    sc_order_release_point(&order, &point);
}

static void synchronise(uint32_t stream)
{
    know(point_of(stream));
}

/* A record as track.c makes it: the event comes after all legacy work. */
static struct sc_point record(uint32_t stream)
{
    sc_order_note_work(&order, stream);
    return point_of(stream);
}

static void wait_for(uint32_t stream, struct sc_point point)
{
    if (!sc_order_note_wait(&order, stream, &point))
        ck_abort_msg("no wait for the point");
    sc_order_note_work(&order, stream);
    sc_order_release_point(&order, &point);
}

START_TEST(numbers_start_at_one_and_ids_are_not_zero)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    ck_assert_uint_ne(stream, 0);
    struct sc_ticket first = issue(stream);
    struct sc_ticket second = issue(stream);
    ck_assert_uint_eq(first.stream, stream);
    ck_assert_uint_eq(first.number, 1);
    ck_assert_uint_eq(second.number, 2);
    ck_assert_uint_eq(first.legacy, 0);
}
END_TEST

START_TEST(a_legacy_stream_is_its_own_context)
{
    uint32_t stream = add(SC_STREAM_BLOCKING);
    ck_assert_uint_eq(sc_order_stream(&order, legacy)->context, legacy);
    ck_assert_uint_eq(sc_order_stream(&order, stream)->context, legacy);
    ck_assert_uint_eq(issue(stream).legacy, legacy);
}
END_TEST

START_TEST(a_stream_synchronise_covers_what_was_issued_before)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket before = issue(stream);
    struct sc_point point = point_of(stream);
    struct sc_ticket after = issue(stream);
    ck_assert(!done(before));
    know(point);
    ck_assert(done(before));
    ck_assert(!done(after));
    synchronise(stream);
    ck_assert(done(after));
}
END_TEST

START_TEST(an_older_synchronise_takes_nothing_back)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    issue(stream);
    struct sc_point old = point_of(stream);
    struct sc_ticket late = issue(stream);
    synchronise(stream);
    know(old);
    ck_assert(done(late));
}
END_TEST

START_TEST(streams_are_independent)
{
    uint32_t one = add(SC_STREAM_NONBLOCKING);
    uint32_t two = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket ticket = issue(one);
    ck_assert(!covers(two, ticket));
    ck_assert(covers(one, ticket));
    synchronise(two);
    ck_assert(!done(ticket));
}
END_TEST

START_TEST(an_event_covers_what_was_issued_before_its_record)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket before = issue(stream);
    struct sc_point event = record(stream);
    struct sc_ticket after = issue(stream);
    know(event);
    ck_assert(done(before));
    ck_assert(!done(after));
}
END_TEST

START_TEST(a_wait_chain_carries_order_over_streams)
{
    uint32_t streams[6];
    struct sc_ticket tickets[6];
    for (int i = 0; i < 6; i++) {
        streams[i] = add(SC_STREAM_NONBLOCKING);
        if (i > 0)
            wait_for(streams[i], record(streams[i - 1]));
        tickets[i] = issue(streams[i]);
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            ck_assert_int_eq(covers(streams[j], tickets[i]), i <= j);
    synchronise(streams[3]);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(done(tickets[i]), i <= 3);
}
END_TEST

START_TEST(a_record_before_the_wait_does_not_carry_it)
{
    uint32_t one = add(SC_STREAM_NONBLOCKING);
    uint32_t two = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket ticket = issue(one);
    struct sc_point early = record(two);
    wait_for(two, record(one));
    know(early);
    ck_assert(!done(ticket));
    know(record(two));
    ck_assert(done(ticket));
}
END_TEST

START_TEST(a_copied_point_outlives_the_first)
{
    uint32_t one = add(SC_STREAM_NONBLOCKING);
    uint32_t two = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket ticket = issue(one);
    wait_for(two, record(one));
    struct sc_point point = record(two);
    struct sc_point copy = sc_order_copy_point(&point);
    sc_order_release_point(&order, &point);
    ck_assert_ptr_null(point.joined);
    know(copy);
    ck_assert(done(ticket));
}
END_TEST

START_TEST(blocking_work_comes_after_legacy_work)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    struct sc_ticket ticket = issue(legacy);
    ck_assert(covers(blocking, ticket));
    issue(blocking);
    synchronise(blocking);
    ck_assert(done(ticket));
}
END_TEST

START_TEST(legacy_work_comes_after_blocking_work)
{
    uint32_t one = add(SC_STREAM_BLOCKING);
    uint32_t two = add(SC_STREAM_BLOCKING);
    struct sc_ticket early = issue(one);
    ck_assert(covers(legacy, early));
    ck_assert(!covers(two, early));
    issue(legacy);
    ck_assert(covers(two, early));
    struct sc_ticket late = issue(one);
    ck_assert(!covers(two, late));
    synchronise(legacy);
    ck_assert(done(early));
    ck_assert(!done(late));
}
END_TEST

static struct sc_order_call begin(uint32_t stream)
{
    struct sc_order_call call;
    sc_order_begin_call(&order, stream, &call);
    return call;
}

static void end(struct sc_order_call call)
{
    sc_order_end_call(&order, &call, true);
}

START_TEST(a_legacy_call_under_way_proves_nothing_of_what_comes_meanwhile)
{
    uint32_t stream = add(SC_STREAM_BLOCKING);
    struct sc_order_call call = begin(legacy);
    struct sc_ticket meanwhile = issue(stream);
    end(call);
    synchronise(legacy);
    ck_assert(!done(meanwhile));
    struct sc_ticket behind = issue(stream);
    issue(legacy);
    synchronise(legacy);
    ck_assert(done(meanwhile));
    ck_assert(done(behind));
}
END_TEST

START_TEST(a_legacy_call_that_is_overtaken_proves_nothing_of_what_came_meanwhile)
{
    uint32_t stream = add(SC_STREAM_BLOCKING);
    struct sc_order_call slow = begin(legacy);
    struct sc_ticket meanwhile = issue(stream);
    struct sc_order_call fast = begin(legacy);
    end(slow);
    synchronise(legacy);
    ck_assert(!done(meanwhile));
    end(fast);
    synchronise(legacy);
    ck_assert(done(meanwhile));
}
END_TEST

START_TEST(blocking_work_comes_after_legacy_calls_that_have_ended_only)
{
    uint32_t one = add(SC_STREAM_BLOCKING);
    uint32_t two = add(SC_STREAM_BLOCKING);
    struct sc_ticket ticket = issue(one);
    struct sc_order_call call = begin(legacy);
    ck_assert(!covers(two, ticket));
    struct sc_order_call beside = begin(two);
    end(call);
    end(beside);
    synchronise(two);
    ck_assert(!done(ticket));
    sc_order_note_work(&order, two);
    synchronise(two);
    ck_assert(done(ticket));
}
END_TEST

START_TEST(a_legacy_call_that_was_refused_leaves_no_trace)
{
    uint32_t one = add(SC_STREAM_BLOCKING);
    uint32_t two = add(SC_STREAM_BLOCKING);
    struct sc_ticket ticket = issue(one);
    struct sc_order_call call = begin(legacy);
    sc_order_end_call(&order, &call, false);
    ck_assert(!covers(two, ticket));
    synchronise(legacy);
    ck_assert(!done(ticket));
}
END_TEST

START_TEST(an_idle_blocking_stream_does_not_cover_later_legacy_work)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    issue(blocking);
    struct sc_ticket ticket = issue(legacy);
    synchronise(blocking);
    ck_assert(!done(ticket));
    sc_order_note_work(&order, blocking);
    synchronise(blocking);
    ck_assert(done(ticket));
}
END_TEST

START_TEST(a_call_has_something_to_note_only_after_new_legacy_work)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    uint32_t free_one = add(SC_STREAM_NONBLOCKING);
    ck_assert(!sc_order_must_begin_call(&order, blocking));
    issue(legacy);
    ck_assert(sc_order_must_begin_call(&order, blocking));
    ck_assert(!sc_order_must_begin_call(&order, free_one));
    ck_assert(sc_order_must_begin_call(&order, legacy));
    sc_order_note_work(&order, blocking);
    ck_assert(!sc_order_must_begin_call(&order, blocking));
    issue(other_legacy);
    ck_assert(!sc_order_must_begin_call(&order, blocking));
}
END_TEST

START_TEST(an_event_on_a_blocking_stream_covers_legacy_work_before_it)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    uint32_t free_one = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket before = issue(legacy);
    struct sc_point event = record(blocking);
    struct sc_ticket after = issue(legacy);
    wait_for(free_one, event);
    ck_assert(covers(free_one, before));
    ck_assert(!covers(free_one, after));
}
END_TEST

START_TEST(an_event_on_legacy_covers_every_blocking_stream)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    uint32_t free_one = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket joined = issue(blocking);
    struct sc_ticket apart = issue(free_one);
    issue(legacy);
    struct sc_point event = point_of(legacy);
    struct sc_ticket late = issue(blocking);
    know(event);
    ck_assert(done(joined));
    ck_assert(!done(apart));
    ck_assert(!done(late));
}
END_TEST

START_TEST(nonblocking_streams_and_legacy_ignore_each_other)
{
    uint32_t free_one = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket ticket = issue(free_one);
    struct sc_ticket of_legacy = issue(legacy);
    issue(free_one);
    ck_assert(!covers(legacy, ticket));
    ck_assert(!covers(free_one, of_legacy));
    know(sc_order_legacy_point(&order, legacy));
    ck_assert(done(of_legacy));
    ck_assert(!done(ticket));
}
END_TEST

START_TEST(what_a_blocking_stream_waited_for_reaches_others_through_legacy)
{
    uint32_t free_one = add(SC_STREAM_NONBLOCKING);
    uint32_t one = add(SC_STREAM_BLOCKING);
    uint32_t two = add(SC_STREAM_BLOCKING);
    struct sc_ticket ticket = issue(free_one);
    wait_for(one, record(free_one));
    ck_assert(!covers(two, ticket));
    ck_assert(covers(legacy, ticket));
    issue(legacy);
    ck_assert(covers(two, ticket));
    issue(two);
    synchronise(two);
    ck_assert(done(ticket));
}
END_TEST

START_TEST(what_legacy_waited_for_reaches_blocking_streams)
{
    uint32_t free_one = add(SC_STREAM_NONBLOCKING);
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    struct sc_ticket ticket = issue(free_one);
    struct sc_point event = record(free_one);
    ck_assert(sc_order_note_wait(&order, legacy, &event));
    sc_order_release_point(&order, &event);
    issue(legacy);
    ck_assert(covers(blocking, ticket));
    issue(blocking);
    synchronise(blocking);
    ck_assert(done(ticket));
}
END_TEST

START_TEST(a_legacy_synchronise_covers_blocking_work_without_legacy_work)
{
    uint32_t free_one = add(SC_STREAM_NONBLOCKING);
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    struct sc_ticket waited_for = issue(free_one);
    wait_for(blocking, record(free_one));
    struct sc_ticket ticket = issue(blocking);
    struct sc_ticket apart = issue(free_one);
    know(sc_order_legacy_point(&order, legacy));
    ck_assert(done(ticket));
    ck_assert(done(waited_for));
    ck_assert(!done(apart));
}
END_TEST

START_TEST(a_context_synchronise_covers_all_of_its_streams_and_no_others)
{
    struct sc_ticket mine[3] = {issue(legacy), issue(add(SC_STREAM_BLOCKING)),
                                issue(add(SC_STREAM_NONBLOCKING))};
    uint32_t stranger = sc_order_add(&order, SC_STREAM_BLOCKING, other_legacy);
    struct sc_ticket others[2] = {issue(other_legacy), issue(stranger)};
    know(sc_order_context_point(&order, legacy));
    for (int i = 0; i < 3; i++)
        ck_assert(done(mine[i]));
    ck_assert(!done(others[0]));
    ck_assert(!done(others[1]));
}
END_TEST

/* Ids of several words of sc_order.live, and some behind them. */
START_TEST(a_stream_that_was_idle_at_a_walk_is_found_at_the_next_one)
{
    enum { STREAMS = SC_ORDER_LIVE_MAX + 8, EVERY = 61 };
    uint32_t first = add(SC_STREAM_NONBLOCKING);
    for (unsigned i = 1; i < STREAMS; i++)
        ck_assert_uint_eq(add(i % 2 ? SC_STREAM_NONBLOCKING : SC_STREAM_BLOCKING), first + i);
    for (unsigned i = 0; i < STREAMS; i += EVERY) {
        know(sc_order_context_point(&order, legacy));
        know(sc_order_context_point(&order, legacy)); /* all of them are idle */
        ck_assert(sc_order_is_idle(sc_order_stream(&order, first + i)));
        struct sc_ticket ticket = issue(first + i);
        know(sc_order_context_point(&order, other_legacy));
        ck_assert(!done(ticket));
        know(sc_order_context_point(&order, legacy));
        ck_assert(done(ticket));
    }
}
END_TEST

/* What it waits for is of another context. */
START_TEST(a_stream_that_was_idle_and_waits_is_found_as_well)
{
    uint32_t waiting = add(SC_STREAM_NONBLOCKING);
    uint32_t stranger = sc_order_add(&order, SC_STREAM_NONBLOCKING, other_legacy);
    know(sc_order_context_point(&order, legacy));
    know(sc_order_context_point(&order, legacy));
    struct sc_ticket ticket = issue(stranger);
    wait_for(waiting, record(stranger));
    know(sc_order_context_point(&order, legacy));
    ck_assert(done(ticket));
}
END_TEST

START_TEST(a_context_synchronise_covers_green_contexts_and_theirs_not_the_primary_one)
{
    uint32_t green = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    uint32_t in_green = sc_order_add(&order, SC_STREAM_NONBLOCKING, green);
    sc_order_set_primary(&order, green, legacy);
    struct sc_ticket own = issue(legacy);
    struct sc_ticket first = issue(in_green);
    know(sc_order_context_point(&order, green));
    ck_assert(done(first));
    ck_assert(!done(own));
    struct sc_ticket second = issue(in_green);
    struct sc_ticket third = issue(green);
    know(sc_order_legacy_point(&order, legacy));
    know(sc_order_context_point(&order, other_legacy));
    ck_assert(!done(second));
    know(sc_order_context_point(&order, legacy));
    ck_assert(done(second));
    ck_assert(done(third));
}
END_TEST

START_TEST(what_a_removed_stream_of_a_green_context_waited_for_holds_up_the_primary_one)
{
    uint32_t green = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    uint32_t in_green = sc_order_add(&order, SC_STREAM_NONBLOCKING, green);
    uint32_t stranger = sc_order_add(&order, SC_STREAM_NONBLOCKING, other_legacy);
    sc_order_set_primary(&order, green, legacy);
    struct sc_ticket ticket = issue(stranger);
    wait_for(in_green, record(stranger));
    sc_order_remove(&order, in_green);
    know(sc_order_context_point(&order, legacy));
    ck_assert(done(ticket));
}
END_TEST

/* The context waits for all work of a stranger. */
static struct sc_ticket let_context_wait(uint32_t context)
{
    uint32_t stranger = sc_order_add(&order, SC_STREAM_NONBLOCKING, other_legacy);
    struct sc_ticket ticket = issue(stranger);
    struct sc_point point = point_of(stranger);
    sc_order_note_context_wait(&order, context, &point);
    sc_order_release_point(&order, &point);
    return ticket;
}

START_TEST(a_wait_of_the_context_is_one_of_all_its_streams_and_those_to_come)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    uint32_t nonblocking = add(SC_STREAM_NONBLOCKING);
    uint32_t elsewhere = sc_order_add(&order, SC_STREAM_NONBLOCKING, other_legacy);
    struct sc_ticket ticket = let_context_wait(legacy);
    ck_assert(covers(blocking, ticket));
    ck_assert(covers(nonblocking, ticket));
    ck_assert(covers(legacy, ticket));
    ck_assert(covers(add(SC_STREAM_NONBLOCKING), ticket));
    ck_assert(!covers(elsewhere, ticket));
    ck_assert(!covers(other_legacy, ticket));
    ck_assert(!done(ticket));
    uint32_t later = add(SC_STREAM_NONBLOCKING);
    issue(later);
    synchronise(later);
    ck_assert(done(ticket));
}
END_TEST

START_TEST(a_stream_joins_what_its_context_waits_for_with_its_next_work)
{
    const enum sc_stream_kind kinds[] = {SC_STREAM_NONBLOCKING, SC_STREAM_BLOCKING};
    for (int i = 0; i < 2; i++) {
        uint32_t idle = add(kinds[i]);
        uint32_t behind = add(kinds[i]);
        struct sc_ticket ticket = let_context_wait(legacy);
        ck_assert(sc_order_must_begin_call(&order, behind));
        synchronise(idle);
        know(sc_order_legacy_point(&order, legacy));
        ck_assert(!done(ticket));
        sc_order_note_work(&order, behind);
        ck_assert(!sc_order_must_begin_call(&order, behind));
        synchronise(behind);
        ck_assert(done(ticket));
    }
}
END_TEST

START_TEST(a_legacy_stream_joins_it_with_its_next_work_and_hands_it_on)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    struct sc_ticket ticket = let_context_wait(legacy);
    sc_order_note_work(&order, blocking);
    synchronise(legacy);
    ck_assert(!done(ticket));
    issue(legacy);
    know(sc_order_legacy_point(&order, legacy));
    ck_assert(done(ticket));
}
END_TEST

START_TEST(an_event_waits_for_what_its_context_waits_for_and_its_stream_does_not)
{
    const uint32_t streams[] = {add(SC_STREAM_NONBLOCKING), add(SC_STREAM_BLOCKING), legacy};
    for (int i = 0; i < 3; i++) {
        struct sc_ticket ticket = let_context_wait(legacy);
        struct sc_order_call call = begin(streams[i]);
        struct sc_point event = sc_order_call_point(&order, &call);
        sc_order_end_record(&order, &call, true);
        synchronise(streams[i]);
        know(sc_order_legacy_point(&order, legacy));
        ck_assert(!done(ticket));
        know(event);
        ck_assert(done(ticket));
    }
}
END_TEST

START_TEST(what_a_removed_blocking_stream_joined_holds_up_the_legacy_one)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    struct sc_ticket ticket = let_context_wait(legacy);
    sc_order_note_work(&order, blocking);
    sc_order_remove(&order, blocking);
    know(sc_order_legacy_point(&order, legacy));
    ck_assert(done(ticket));
}
END_TEST

START_TEST(a_wait_on_a_legacy_stream_leaves_due_what_its_context_waits_for)
{
    struct sc_ticket ticket = let_context_wait(legacy);
    struct sc_order_call call = begin(legacy);
    sc_order_end_record(&order, &call, true);
    synchronise(legacy);
    ck_assert(!done(ticket));
}
END_TEST

START_TEST(a_synchronise_of_the_context_waits_for_what_the_context_waits_for)
{
    uint32_t green = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    sc_order_set_primary(&order, green, legacy);
    struct sc_ticket for_green = let_context_wait(green);
    struct sc_ticket for_primary = let_context_wait(legacy);
    know(sc_order_context_point(&order, green));
    ck_assert(done(for_green));
    ck_assert(!done(for_primary));
    for_green = let_context_wait(green);
    know(sc_order_context_point(&order, legacy));
    ck_assert(done(for_green));
    ck_assert(done(for_primary));
}
END_TEST

START_TEST(an_event_of_a_context_stands_for_what_its_streams_are_to_wait_for)
{
    uint32_t green = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    sc_order_set_primary(&order, green, legacy);
    struct sc_ticket ticket = let_context_wait(legacy);
    know(sc_order_context_point(&order, green));
    ck_assert(!done(ticket));
    know(sc_order_context_record(&order, green));
    ck_assert(done(ticket));
}
END_TEST

START_TEST(green_contexts_wait_for_what_their_primary_one_waits_for)
{
    uint32_t green = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    uint32_t in_green = sc_order_add(&order, SC_STREAM_NONBLOCKING, green);
    sc_order_set_primary(&order, green, legacy);
    struct sc_ticket for_green = let_context_wait(green);
    ck_assert(covers(in_green, for_green));
    ck_assert(!covers(legacy, for_green));
    struct sc_ticket for_primary = let_context_wait(legacy);
    ck_assert(covers(in_green, for_primary));
    uint32_t later = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    sc_order_set_primary(&order, later, legacy);
    ck_assert(covers(later, for_primary));
    ck_assert(covers(sc_order_add(&order, SC_STREAM_NONBLOCKING, later), for_primary));
    ck_assert(!covers(later, for_green));
}
END_TEST

START_TEST(contexts_have_legacy_streams_of_their_own)
{
    uint32_t mine = add(SC_STREAM_BLOCKING);
    uint32_t stranger = sc_order_add(&order, SC_STREAM_BLOCKING, other_legacy);
    struct sc_ticket ticket = issue(mine);
    issue(other_legacy);
    ck_assert(!covers(other_legacy, ticket));
    ck_assert(!covers(stranger, ticket));
    synchronise(other_legacy);
    ck_assert(!done(ticket));
}
END_TEST

START_TEST(a_removed_stream_keeps_its_meaning)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket ticket = issue(stream);
    sc_order_reference(&order, stream);
    struct sc_point event = record(stream);
    sc_order_remove(&order, stream);
    ck_assert(!done(ticket));
    ck_assert_uint_ne(add(SC_STREAM_NONBLOCKING), stream);
    know(event);
    ck_assert(done(ticket));
    sc_order_unreference(&order, stream);
    ck_assert_uint_eq(add(SC_STREAM_NONBLOCKING), stream);
}
END_TEST

START_TEST(removing_twice_is_removing_once)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    sc_order_remove(&order, stream);
    sc_order_remove(&order, stream);
    ck_assert_uint_eq(add(SC_STREAM_NONBLOCKING), stream);
    ck_assert_uint_ne(add(SC_STREAM_NONBLOCKING), stream);
}
END_TEST

START_TEST(old_points_do_not_cover_the_work_of_a_recycled_stream)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    issue(stream);
    struct sc_point event = record(stream);
    sc_order_remove(&order, stream);
    ck_assert_uint_eq(add(SC_STREAM_BLOCKING), stream);
    ck_assert_uint_gt(record(stream).number, event.number);
    struct sc_ticket ticket = issue(stream);
    know(event);
    ck_assert(!done(ticket));
    ck_assert_uint_eq(ticket.number, 3);
}
END_TEST

START_TEST(a_recycled_stream_inherits_no_order)
{
    uint32_t free_one = add(SC_STREAM_NONBLOCKING);
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket ticket = issue(free_one);
    wait_for(stream, record(free_one));
    sc_order_remove(&order, stream);
    ck_assert_uint_eq(add(SC_STREAM_NONBLOCKING), stream);
    ck_assert(!covers(stream, ticket));
}
END_TEST

START_TEST(a_recycled_blocking_stream_learns_anew_what_legacy_joined)
{
    uint32_t free_one = add(SC_STREAM_NONBLOCKING);
    uint32_t stream = add(SC_STREAM_BLOCKING);
    struct sc_ticket ticket = issue(free_one);
    struct sc_point event = record(free_one);
    ck_assert(sc_order_note_wait(&order, legacy, &event));
    sc_order_release_point(&order, &event);
    issue(legacy);
    sc_order_note_work(&order, stream);
    sc_order_remove(&order, stream);
    ck_assert_uint_eq(add(SC_STREAM_BLOCKING), stream);
    issue(stream);
    synchronise(stream);
    ck_assert(done(ticket));
}
END_TEST

START_TEST(what_a_removed_stream_waited_for_still_holds_up_its_context)
{
    uint32_t stranger = sc_order_add(&order, SC_STREAM_NONBLOCKING, other_legacy);
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    uint32_t free_one = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket first = issue(stranger);
    wait_for(blocking, record(stranger));
    sc_order_remove(&order, blocking);
    struct sc_ticket second = issue(stranger);
    wait_for(free_one, record(stranger));
    sc_order_remove(&order, free_one);
    know(sc_order_legacy_point(&order, legacy));
    ck_assert(done(first));
    ck_assert(!done(second));
    know(sc_order_context_point(&order, legacy));
    ck_assert(done(second));
}
END_TEST

START_TEST(a_removed_stream_that_is_still_named_keeps_no_clock)
{
    uint32_t stranger = sc_order_add(&order, SC_STREAM_NONBLOCKING, other_legacy);
    uint32_t free_one = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket ticket = issue(stranger);
    wait_for(free_one, record(stranger));
    sc_order_reference(&order, free_one);
    sc_order_remove(&order, free_one);
    ck_assert_ptr_null(sc_order_stream(&order, free_one)->joined);
    know(sc_order_context_point(&order, legacy));
    ck_assert(done(ticket));
    sc_order_unreference(&order, free_one);
}
END_TEST

START_TEST(a_removed_context_is_not_recycled_under_its_streams)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    issue(legacy);
    struct sc_ticket ticket = issue(blocking);
    sc_order_reference(&order, blocking);
    sc_order_remove(&order, legacy);
    sc_order_remove(&order, blocking);
    uint32_t fresh = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    ck_assert_uint_ne(fresh, legacy);
    issue(fresh);
    synchronise(fresh);
    ck_assert(!done(ticket));
    sc_order_unreference(&order, blocking);
    ck_assert_uint_eq(sc_order_add(&order, SC_STREAM_LEGACY, 0), legacy);
}
END_TEST

START_TEST(seen_complete_is_not_known_done)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket ticket = issue(stream);
    ck_assert(!sc_order_complete(&order, &ticket));
    atomic_store(&sc_order_stream(&order, stream)->complete, ticket.number);
    ck_assert(sc_order_complete(&order, &ticket));
    ck_assert(!done(ticket));
    ck_assert(!covers(legacy, ticket));
    synchronise(stream);
    ck_assert(sc_order_complete(&order, &ticket));
}
END_TEST

static bool signalled(struct sc_ticket ticket)
{
    return sc_order_may_be_signalled(&order, &ticket);
}

START_TEST(a_signal_is_behind_all_that_its_point_covers_and_makes_nothing_known)
{
    uint32_t first = add(SC_STREAM_NONBLOCKING);
    uint32_t second = add(SC_STREAM_BLOCKING);
    struct sc_ticket waited_for = issue(first);
    struct sc_ticket earlier_legacy = issue(legacy);
    wait_for(second, point_of(first));
    struct sc_ticket before = issue(second);
    struct sc_point point = point_of(second);
    sc_order_note_signal(&order, &point);
    sc_order_release_point(&order, &point);
    struct sc_ticket behind = issue(second);
    struct sc_ticket beside = issue(first);
    ck_assert(signalled(waited_for));
    ck_assert(signalled(earlier_legacy));
    ck_assert(signalled(before));
    ck_assert(!signalled(behind));
    ck_assert(!signalled(beside));
    ck_assert(!done(before));
    ck_assert(!done(waited_for));
    ck_assert_uint_eq(sc_order_first_signal(&order, &before), before.number);
    ck_assert_uint_eq(sc_order_first_signal(&order, &waited_for), 0);
}
END_TEST

static unsigned ties(uint32_t stream)
{
    return atomic_load(&sc_order_stream(&order, stream)->front.ties);
}

START_TEST(a_stream_has_the_ties_that_it_was_given)
{
    uint32_t first = add(SC_STREAM_NONBLOCKING);
    uint32_t second = add(SC_STREAM_NONBLOCKING);
    ck_assert_uint_eq(ties(add(SC_STREAM_BLOCKING)), SC_TIE_KIND);
    ck_assert_uint_eq(ties(first), 0);
    issue(first);
    wait_for(second, point_of(first));
    ck_assert_uint_eq(ties(first), 0);
    ck_assert_uint_eq(ties(second), SC_TIE_JOINED);
    struct sc_point point = point_of(second);
    sc_order_note_context_wait(&order, sc_order_stream(&order, first)->context, &point);
    ck_assert_uint_eq(ties(first), SC_TIE_DUE);
    ck_assert_uint_eq(ties(add(SC_STREAM_NONBLOCKING)), SC_TIE_DUE);
    issue(first);
    ck_assert_uint_eq(ties(first), SC_TIE_JOINED);
    sc_order_note_signal(&order, &point);
    sc_order_release_point(&order, &point);
    ck_assert_uint_eq(ties(first), SC_TIE_JOINED | SC_TIE_SIGNALS);
    ck_assert_uint_eq(ties(add(SC_STREAM_NONBLOCKING)), SC_TIE_DUE | SC_TIE_SIGNALS);
}
END_TEST

static bool is_tied(uint32_t stream)
{
    return sc_order_is_tied(&order, stream, SC_TIE_KIND | SC_TIE_DUE | SC_TIE_JOINED);
}

/* Then the kind of a blocking stream does not matter to its next call. */
START_TEST(a_blocking_stream_is_bound_by_what_it_has_not_joined_of_the_legacy_stream)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    ck_assert(!is_tied(blocking));
    struct sc_ticket own = issue(blocking);
    ck_assert_uint_eq(own.legacy, legacy);
    ck_assert(!is_tied(blocking));
    struct sc_ticket earlier = issue(legacy);
    ck_assert(sc_order_is_tied(&order, blocking, SC_TIE_KIND));
    issue(blocking);
    ck_assert(covers(blocking, earlier));
    ck_assert(!sc_order_is_tied(&order, blocking, SC_TIE_KIND | SC_TIE_DUE));
    ck_assert(is_tied(blocking)); /* the legacy call is in its point */
    struct sc_point point;
    ck_assert(!sc_order_plain_point(&order, blocking, &point));
    synchronise(legacy);
    ck_assert(!is_tied(blocking));
    ck_assert(sc_order_plain_point(&order, blocking, &point));
    ck_assert_uint_eq(point.number, sc_order_issued(&order, blocking));
    ck_assert(is_tied(legacy));
}
END_TEST

START_TEST(a_blocking_stream_is_bound_by_what_the_legacy_stream_has_left_behind)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING), other = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket waited_for = issue(other);
    wait_for(legacy, point_of(other));
    ck_assert(sc_order_is_tied(&order, blocking, SC_TIE_KIND));
    issue(blocking);
    ck_assert(covers(blocking, waited_for));
    ck_assert_uint_eq(ties(blocking), SC_TIE_KIND | SC_TIE_JOINED);
    ck_assert(!sc_order_is_tied(&order, blocking, SC_TIE_KIND | SC_TIE_DUE));
    ck_assert(is_tied(blocking));
}
END_TEST

/* A point without a clock covers the whole stream, whose legacy work is known. */
START_TEST(all_is_known_of_a_blocking_stream_behind_a_plain_point)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    issue(legacy);
    issue(blocking);
    synchronise(legacy);
    struct sc_ticket last = issue(blocking);
    struct sc_point point;
    ck_assert(!sc_order_is_all_known(&order, blocking));
    if (!sc_order_plain_point(&order, blocking, &point))
        ck_abort_msg("the stream has a plain point");
    sc_order_note_known(&order, &point);
    order.retiring = 1; /* another thread has still to retire legacy work that the host knows */
    sc_order_note_all_known(&order, &point);
    ck_assert(!sc_order_is_all_known(&order, blocking));
    order.retiring = 0;
    sc_order_note_all_known(&order, &point);
    ck_assert(done(last));
    ck_assert(sc_order_is_all_known(&order, blocking));
    issue(legacy);
    issue(blocking);
    ck_assert(!sc_order_is_all_known(&order, blocking));
}
END_TEST

/* What calls there come after, and before, is asked for only where somebody may ask. */
START_TEST(a_legacy_stream_is_tied_to_blocking_streams_and_not_by_what_it_waits_for)
{
    uint32_t first = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    uint32_t second = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    sc_order_add(&order, SC_STREAM_NONBLOCKING, first);
    uint32_t beside = sc_order_add(&order, SC_STREAM_NONBLOCKING, second);
    ck_assert_uint_eq(ties(first), 0);
    ck_assert(sc_order_is_by_itself(&order, first));
    uint32_t of_first = sc_order_add(&order, SC_STREAM_BLOCKING, first);
    ck_assert_uint_eq(ties(first), SC_TIE_KIND);
    ck_assert_uint_eq(ties(second), 0);
    sc_order_remove(&order, of_first);
    ck_assert_uint_eq(ties(first), SC_TIE_KIND);
    struct sc_ticket waited_for = issue(beside);
    wait_for(second, point_of(beside));
    ck_assert_uint_eq(ties(second), SC_TIE_JOINED);
    ck_assert(sc_order_is_by_itself(&order, second));
    ck_assert(covers(second, waited_for));
    ck_assert(!sc_order_must_begin_call(&order, second));
    issue(second);
    ck_assert_uint_eq(point_of(second).call, 0);
    uint32_t late = sc_order_add(&order, SC_STREAM_BLOCKING, second);
    ck_assert(sc_order_must_begin_call(&order, second));
    issue(late);
    ck_assert(covers(late, waited_for));
    issue(second);
    ck_assert_uint_eq(point_of(second).call, 1);
}
END_TEST

/* Then the stream's next record is a plain one again. */
START_TEST(what_the_host_knows_is_joined_no_more)
{
    uint32_t first = add(SC_STREAM_NONBLOCKING), second = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket ticket = issue(first);
    wait_for(second, point_of(first));
    know(sc_order_context_point(&order, other_legacy)); /* of another context */
    ck_assert_uint_eq(ties(second), SC_TIE_JOINED);
    know(sc_order_context_point(&order, legacy));
    know(sc_order_context_point(&order, legacy));
    ck_assert(done(ticket));
    ck_assert_uint_eq(ties(second), 0);

    struct sc_ticket later = issue(first);
    wait_for(second, point_of(first));
    ck_assert_uint_eq(ties(second), SC_TIE_JOINED);
    ck_assert(covers(second, later));
    struct sc_point point = point_of(second);
    sc_order_note_known(&order, &point);
    sc_order_note_all_known(&order, &point);
    sc_order_release_point(&order, &point);
    ck_assert(done(later));
    ck_assert_uint_eq(ties(second), 0);
}
END_TEST

static void change_by_operation(uint32_t stream)
{
    issue(stream);
}

static void change_by_record(uint32_t stream)
{
    struct sc_order_call call;
    add(SC_STREAM_BLOCKING);
    issue(stream);
    synchronise(stream);
    know(sc_order_context_point(&order, legacy));
    know(sc_order_context_point(&order, legacy));
    sc_order_begin_call(&order, legacy, &call);
    sc_order_end_record(&order, &call, /*issued=*/true);
}

static void change_by_wait(uint32_t stream)
{
    issue(add(SC_STREAM_NONBLOCKING));
    know(sc_order_context_point(&order, legacy));
    know(sc_order_context_point(&order, legacy));
    uint32_t other = sc_order_add(&order, SC_STREAM_NONBLOCKING, other_legacy);
    issue(other);
    know(sc_order_context_point(&order, legacy));
    wait_for(stream, point_of(other));
}

static void change_by_context_wait(uint32_t stream)
{
    uint32_t other = sc_order_add(&order, SC_STREAM_NONBLOCKING, other_legacy);
    issue(other);
    know(sc_order_context_point(&order, legacy));
    struct sc_point point = point_of(other);
    sc_order_note_context_wait(&order, legacy, &point);
    sc_order_release_point(&order, &point);
    (void)stream;
}

static void change_by_green_context(uint32_t stream)
{
    uint32_t green = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    issue(sc_order_add(&order, SC_STREAM_NONBLOCKING, green));
    know(sc_order_context_point(&order, legacy));
    sc_order_set_primary(&order, green, legacy);
    (void)stream;
}

static void (*const changes[])(uint32_t stream) = {
    change_by_operation,    change_by_record,        change_by_wait,
    change_by_context_wait, change_by_green_context,
};
enum { CHANGES = sizeof changes / sizeof *changes };

START_TEST(a_context_is_known_until_something_changes)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    ck_assert(!sc_order_is_context_known(&order, legacy));
    know(sc_order_context_point(&order, legacy));
    ck_assert(sc_order_is_context_known(&order, legacy));
    changes[_i](stream);
    ck_assert(!sc_order_is_context_known(&order, legacy));
    struct sc_point point = sc_order_context_point(&order, legacy);
    ck_assert_ptr_nonnull(point.joined);
    ck_assert(!sc_order_is_context_known(&order, legacy)); /* the host has not waited yet */
    know(point);
    know(sc_order_context_point(&order, legacy));
    ck_assert(sc_order_is_context_known(&order, legacy));
}
END_TEST

START_TEST(a_context_is_not_known_by_another_one)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    issue(stream);
    know(sc_order_context_point(&order, other_legacy));
    ck_assert(sc_order_is_context_known(&order, other_legacy));
    ck_assert(!sc_order_is_context_known(&order, legacy));
}
END_TEST

/* What the host knows is still compared with what was copied: the program may not go on. */
START_TEST(a_context_is_not_known_while_a_thread_retires_what_is)
{
    issue(add(SC_STREAM_NONBLOCKING));
    know(sc_order_context_point(&order, legacy));
    order.retiring++;
    know(sc_order_context_point(&order, legacy));
    ck_assert(!sc_order_is_context_known(&order, legacy));
    order.retiring--;
    know(sc_order_context_point(&order, legacy));
    ck_assert(sc_order_is_context_known(&order, legacy));
}
END_TEST

/* Of a context and of a stream it is told by different counts that all is known. */
START_TEST(a_stream_with_the_id_of_a_former_context_is_not_settled_by_its_count)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    for (unsigned i = 0; i < 8; i++)
        issue(stream);
    know(sc_order_context_point(&order, legacy));
    know(sc_order_context_point(&order, other_legacy));
    sc_order_remove(&order, other_legacy);
    uint32_t again = add(SC_STREAM_NONBLOCKING);
    ck_assert_uint_eq(again, other_legacy);
    for (unsigned i = 0; i < 64; i++) {
        issue(again);
        ck_assert(!sc_order_is_all_known(&order, again));
    }
}
END_TEST

/* What came before the first blocking stream is before its work all the same. */
START_TEST(a_blocking_stream_comes_after_what_a_lone_legacy_stream_had)
{
    uint32_t alone = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    struct sc_ticket earlier = {.stream = alone};
    struct sc_point point;
    sc_order_renew_ticket(&order, &earlier); /* without a call, as by who is by itself */
    ck_assert(sc_order_plain_point(&order, alone, &point));
    uint32_t late = sc_order_add(&order, SC_STREAM_BLOCKING, alone);
    ck_assert(sc_order_must_begin_call(&order, late));
    struct sc_ticket ticket = issue(late);
    ck_assert(sc_order_covers(&order, late, &earlier));
    ck_assert(!sc_order_plain_point(&order, alone, &point));
    ck_assert(sc_order_covers(&order, alone, &ticket));
    struct sc_point behind = point_of(late);
    ck_assert(sc_order_point_covers(&behind, &earlier));
    sc_order_note_known(&order, &behind);
    sc_order_release_point(&order, &behind);
    ck_assert(sc_order_known_done(&order, &earlier));
    struct sc_ticket later = issue(late);
    ck_assert(!sc_order_known_done(&order, &later));
    issue(alone);
    behind = point_of(alone);
    ck_assert(sc_order_point_covers(&behind, &later));
    sc_order_release_point(&order, &behind);
}
END_TEST

START_TEST(the_ties_of_a_stream_are_not_those_of_the_one_before)
{
    uint32_t first = add(SC_STREAM_NONBLOCKING);
    uint32_t second = add(SC_STREAM_NONBLOCKING);
    issue(first);
    wait_for(second, point_of(first));
    sc_order_remove(&order, second);
    uint32_t next = add(SC_STREAM_NONBLOCKING);
    ck_assert_uint_eq(next, second);
    ck_assert_uint_eq(ties(next), 0);
}
END_TEST

START_TEST(a_signal_elsewhere_covers_all_before_the_event_but_the_last_surely)
{
    uint32_t first = add(SC_STREAM_NONBLOCKING);
    uint32_t second = add(SC_STREAM_NONBLOCKING);
    ck_assert(!sc_order_attends(&order, SC_ATTENDS_SIGNALS));
    struct sc_ticket earlier = issue(first);
    struct sc_ticket last = issue(first);
    wait_for(second, point_of(first));
    struct sc_point point = point_of(second);
    sc_order_note_signal(&order, &point);
    sc_order_release_point(&order, &point);
    ck_assert_uint_eq(sc_order_first_signal(&order, &earlier), earlier.number);
    ck_assert_uint_eq(sc_order_first_signal(&order, &last), 0);
    ck_assert(sc_order_attends(&order, SC_ATTENDS_SIGNALS));
}
END_TEST

START_TEST(what_passes_before_an_event_lets_a_signal_elsewhere_cover_all)
{
    uint32_t first = add(SC_STREAM_NONBLOCKING);
    uint32_t second = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket last = issue(first);
    sc_order_skip_number(&order, first);
    wait_for(second, point_of(first));
    struct sc_point point = point_of(second);
    sc_order_note_signal(&order, &point);
    sc_order_release_point(&order, &point);
    ck_assert_uint_eq(sc_order_first_signal(&order, &last), last.number);
}
END_TEST

START_TEST(a_signal_of_legacy_covers_all_that_blocking_streams_have)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    uint32_t other = sc_order_add(&order, SC_STREAM_BLOCKING, other_legacy);
    struct sc_ticket before = issue(blocking);
    struct sc_ticket elsewhere = issue(other);
    struct sc_point point = point_of(legacy);
    sc_order_note_signal(&order, &point);
    sc_order_release_point(&order, &point);
    struct sc_ticket behind = issue(blocking);
    ck_assert_uint_eq(sc_order_first_signal(&order, &before), before.number);
    ck_assert_uint_gt(behind.number, before.number + 1);
    ck_assert_uint_eq(sc_order_first_signal(&order, &behind), 0);
    ck_assert(!signalled(elsewhere));
}
END_TEST

START_TEST(a_signal_on_legacy_is_behind_blocking_work)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    uint32_t beside = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket joined = issue(blocking);
    struct sc_ticket not_joined = issue(beside);
    struct sc_point point = sc_order_legacy_point(&order, legacy);
    sc_order_note_signal(&order, &point);
    sc_order_release_point(&order, &point);
    ck_assert(signalled(joined));
    ck_assert(!signalled(not_joined));
    ck_assert_uint_eq(sc_order_first_signal(&order, &joined), 0);
}
END_TEST

/* It may have told the host before any mark had passed. */
START_TEST(no_mark_stands_before_a_signal_of_the_past)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket told = issue(stream);
    struct sc_point then = point_of(stream);
    struct sc_ticket later = issue(stream);
    struct sc_point now = point_of(stream);
    sc_order_note_signal(&order, &now);
    ck_assert_uint_eq(sc_order_first_signal(&order, &told), later.number);
    sc_order_note_past_signal(&order, &then);
    ck_assert(signalled(told));
    ck_assert_uint_eq(sc_order_first_signal(&order, &told), 0);
    ck_assert_uint_eq(sc_order_first_signal(&order, &later), later.number);
    sc_order_release_point(&order, &then);
    sc_order_release_point(&order, &now);
}
END_TEST

START_TEST(the_first_signal_behind_an_operation_is_known_for_a_while)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket first = issue(stream);
    struct sc_ticket second = {0};
    struct sc_ticket last = {0};
    for (int i = 0; i < SC_SIGNALS_KEPT; i++) {
        second = i == 0 ? issue(stream) : second;
        last = i == 0 ? second : issue(stream);
        struct sc_point point = point_of(stream);
        sc_order_note_signal(&order, &point);
        sc_order_release_point(&order, &point);
    }
    ck_assert_uint_eq(sc_order_first_signal(&order, &first), 2);
    ck_assert_uint_eq(sc_order_first_signal(&order, &second), 2);
    ck_assert_uint_eq(sc_order_first_signal(&order, &last), last.number);
    issue(stream);
    struct sc_point point = point_of(stream);
    sc_order_note_signal(&order, &point);
    sc_order_release_point(&order, &point);
    ck_assert_uint_eq(sc_order_first_signal(&order, &first), 0);
    ck_assert_uint_eq(sc_order_first_signal(&order, &last), last.number);
}
END_TEST

START_TEST(what_the_host_knows_comes_before_everything)
{
    uint32_t one = add(SC_STREAM_NONBLOCKING);
    uint32_t two = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket ticket = issue(one);
    synchronise(one);
    ck_assert(covers(two, ticket));
}
END_TEST

static void settle(uint32_t stream)
{
    struct sc_point point = point_of(stream);
    sc_order_note_known(&order, &point);
    sc_order_note_all_known(&order, &point);
    sc_order_release_point(&order, &point);
}

START_TEST(a_stream_is_settled_until_its_point_says_more)
{
    uint32_t one = add(SC_STREAM_NONBLOCKING);
    uint32_t two = add(SC_STREAM_NONBLOCKING);
    ck_assert(sc_order_is_all_known(&order, one));
    issue(one);
    ck_assert(!sc_order_is_all_known(&order, one));
    settle(one);
    ck_assert(sc_order_is_all_known(&order, one));
    issue(two);
    ck_assert(sc_order_is_all_known(&order, one));
    wait_for(one, record(two));
    ck_assert(!sc_order_is_all_known(&order, one));
    settle(one);
    ck_assert(sc_order_is_all_known(&order, one));
    ck_assert(!sc_order_is_all_known(&order, two));
    wait_for(one, record(two)); /* which the host knows by now */
    ck_assert(sc_order_is_all_known(&order, one));
}
END_TEST

START_TEST(a_blocking_stream_is_settled_until_it_comes_after_legacy_work)
{
    uint32_t blocking = add(SC_STREAM_BLOCKING);
    issue(blocking);
    settle(blocking);
    ck_assert(sc_order_is_all_known(&order, blocking));
    issue(legacy);
    ck_assert(sc_order_is_all_known(&order, blocking));
    sc_order_note_work(&order, blocking);
    ck_assert(!sc_order_is_all_known(&order, blocking));
    settle(legacy);
    ck_assert(!sc_order_is_all_known(&order, legacy));
}
END_TEST

START_TEST(an_older_point_settles_nothing)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    issue(stream);
    struct sc_point older = point_of(stream);
    issue(stream);
    sc_order_note_known(&order, &older);
    sc_order_note_all_known(&order, &older);
    sc_order_release_point(&order, &older);
    ck_assert(!sc_order_is_all_known(&order, stream));
}
END_TEST

START_TEST(a_point_of_nothing_orders_nothing)
{
    uint32_t stream = add(SC_STREAM_NONBLOCKING);
    struct sc_ticket ticket = issue(stream);
    struct sc_point nothing = {0};
    sc_order_note_known(&order, &nothing);
    ck_assert(sc_order_note_wait(&order, legacy, &nothing));
    sc_order_release_point(&order, &nothing);
    ck_assert(!done(ticket));
    ck_assert(!covers(legacy, ticket));
}
END_TEST

/* Clocks leave out what the host knows, and give their memory back: a program that runs for days
 * with two streams waiting for each other needs no more of it than one that runs for a second. */
START_TEST(clocks_stay_short)
{
    enum { STREAMS = 200, ROUNDS = 20000 };
    uint32_t streams[STREAMS];
    for (int i = 0; i < STREAMS; i++)
        streams[i] = add(SC_STREAM_NONBLOCKING);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t from = streams[i % STREAMS];
        uint32_t to = streams[(i * 7 + 1) % STREAMS];
        issue(from);
        struct sc_point event = record(from);
        if (!sc_order_note_wait(&order, to, &event))
            ck_abort_msg("no wait for the event");
        if (i % 3 == 0)
            sc_order_note_known(&order, &event);
        sc_order_release_point(&order, &event);
    }
    void *chunks = order.arena.chunks;
    char *bump = order.arena.bump;
    for (int i = 0; i < ROUNDS; i++) {
        issue(streams[0]);
        wait_for(streams[1], record(streams[0]));
        wait_for(streams[0], record(streams[1]));
        know(sc_order_context_point(&order, legacy));
    }
    ck_assert_ptr_eq(order.arena.chunks, chunks);
    ck_assert_int_lt(order.arena.bump - bump, 1 << 16);
}
END_TEST

START_TEST(a_destroyed_order_can_be_made_again)
{
    sc_order_remove(&order, add(SC_STREAM_NONBLOCKING));
    destroy_order(&order);
    sc_order_init(&order);
    ck_assert_uint_eq(sc_order_add(&order, SC_STREAM_LEGACY, 0), 1);
    ck_assert_uint_eq(sc_order_add(&order, SC_STREAM_NONBLOCKING, 1), 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("order");
    TCase *group = tcase_create("order");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_test(group, numbers_start_at_one_and_ids_are_not_zero);
    tcase_add_test(group, a_legacy_stream_is_its_own_context);
    tcase_add_test(group, a_stream_synchronise_covers_what_was_issued_before);
    tcase_add_test(group, an_older_synchronise_takes_nothing_back);
    tcase_add_test(group, streams_are_independent);
    tcase_add_test(group, an_event_covers_what_was_issued_before_its_record);
    tcase_add_test(group, a_wait_chain_carries_order_over_streams);
    tcase_add_test(group, a_record_before_the_wait_does_not_carry_it);
    tcase_add_test(group, a_copied_point_outlives_the_first);
    tcase_add_test(group, blocking_work_comes_after_legacy_work);
    tcase_add_test(group, legacy_work_comes_after_blocking_work);
    tcase_add_test(group, a_legacy_call_under_way_proves_nothing_of_what_comes_meanwhile);
    tcase_add_test(group, a_legacy_call_that_is_overtaken_proves_nothing_of_what_came_meanwhile);
    tcase_add_test(group, blocking_work_comes_after_legacy_calls_that_have_ended_only);
    tcase_add_test(group, a_legacy_call_that_was_refused_leaves_no_trace);
    tcase_add_test(group, an_idle_blocking_stream_does_not_cover_later_legacy_work);
    tcase_add_test(group, a_call_has_something_to_note_only_after_new_legacy_work);
    tcase_add_test(group, an_event_on_a_blocking_stream_covers_legacy_work_before_it);
    tcase_add_test(group, an_event_on_legacy_covers_every_blocking_stream);
    tcase_add_test(group, nonblocking_streams_and_legacy_ignore_each_other);
    tcase_add_test(group, what_a_blocking_stream_waited_for_reaches_others_through_legacy);
    tcase_add_test(group, what_legacy_waited_for_reaches_blocking_streams);
    tcase_add_test(group, a_legacy_synchronise_covers_blocking_work_without_legacy_work);
    tcase_add_test(group, a_context_synchronise_covers_all_of_its_streams_and_no_others);
    tcase_add_test(group, a_stream_that_was_idle_at_a_walk_is_found_at_the_next_one);
    tcase_add_test(group, a_stream_that_was_idle_and_waits_is_found_as_well);
    tcase_add_test(group,
                   a_context_synchronise_covers_green_contexts_and_theirs_not_the_primary_one);
    tcase_add_test(group,
                   what_a_removed_stream_of_a_green_context_waited_for_holds_up_the_primary_one);
    tcase_add_test(group, a_wait_of_the_context_is_one_of_all_its_streams_and_those_to_come);
    tcase_add_test(group, a_stream_joins_what_its_context_waits_for_with_its_next_work);
    tcase_add_test(group, a_legacy_stream_joins_it_with_its_next_work_and_hands_it_on);
    tcase_add_test(group, an_event_waits_for_what_its_context_waits_for_and_its_stream_does_not);
    tcase_add_test(group, what_a_removed_blocking_stream_joined_holds_up_the_legacy_one);
    tcase_add_test(group, a_wait_on_a_legacy_stream_leaves_due_what_its_context_waits_for);
    tcase_add_test(group, a_synchronise_of_the_context_waits_for_what_the_context_waits_for);
    tcase_add_test(group, an_event_of_a_context_stands_for_what_its_streams_are_to_wait_for);
    tcase_add_test(group, green_contexts_wait_for_what_their_primary_one_waits_for);
    tcase_add_test(group, contexts_have_legacy_streams_of_their_own);
    tcase_add_test(group, a_removed_stream_keeps_its_meaning);
    tcase_add_test(group, removing_twice_is_removing_once);
    tcase_add_test(group, old_points_do_not_cover_the_work_of_a_recycled_stream);
    tcase_add_test(group, a_recycled_stream_inherits_no_order);
    tcase_add_test(group, a_recycled_blocking_stream_learns_anew_what_legacy_joined);
    tcase_add_test(group, what_a_removed_stream_waited_for_still_holds_up_its_context);
    tcase_add_test(group, a_removed_stream_that_is_still_named_keeps_no_clock);
    tcase_add_test(group, a_removed_context_is_not_recycled_under_its_streams);
    tcase_add_test(group, seen_complete_is_not_known_done);
    tcase_add_test(group, a_signal_is_behind_all_that_its_point_covers_and_makes_nothing_known);
    tcase_add_test(group, a_signal_on_legacy_is_behind_blocking_work);
    tcase_add_test(group, a_signal_elsewhere_covers_all_before_the_event_but_the_last_surely);
    tcase_add_test(group, what_passes_before_an_event_lets_a_signal_elsewhere_cover_all);
    tcase_add_test(group, a_signal_of_legacy_covers_all_that_blocking_streams_have);
    tcase_add_test(group, no_mark_stands_before_a_signal_of_the_past);
    tcase_add_test(group, the_first_signal_behind_an_operation_is_known_for_a_while);
    tcase_add_test(group, what_the_host_knows_comes_before_everything);
    tcase_add_test(group, a_stream_is_settled_until_its_point_says_more);
    tcase_add_test(group, a_blocking_stream_is_settled_until_it_comes_after_legacy_work);
    tcase_add_test(group, a_stream_has_the_ties_that_it_was_given);
    tcase_add_test(group,
                   a_blocking_stream_is_bound_by_what_it_has_not_joined_of_the_legacy_stream);
    tcase_add_test(group, a_blocking_stream_is_bound_by_what_the_legacy_stream_has_left_behind);
    tcase_add_test(group, all_is_known_of_a_blocking_stream_behind_a_plain_point);
    tcase_add_test(group, a_legacy_stream_is_tied_to_blocking_streams_and_not_by_what_it_waits_for);
    tcase_add_test(group, what_the_host_knows_is_joined_no_more);
    tcase_add_loop_test(group, a_context_is_known_until_something_changes, 0, CHANGES);
    tcase_add_test(group, a_context_is_not_known_by_another_one);
    tcase_add_test(group, a_context_is_not_known_while_a_thread_retires_what_is);
    tcase_add_test(group, a_stream_with_the_id_of_a_former_context_is_not_settled_by_its_count);
    tcase_add_test(group, a_blocking_stream_comes_after_what_a_lone_legacy_stream_had);
    tcase_add_test(group, the_ties_of_a_stream_are_not_those_of_the_one_before);
    tcase_add_test(group, an_older_point_settles_nothing);
    tcase_add_test(group, a_point_of_nothing_orders_nothing);
    tcase_add_test(group, clocks_stay_short);
    tcase_add_test(group, a_destroyed_order_can_be_made_again);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
