/* The whole tracker behind its lock: sentence by sentence what track/track.h promises. */
#include "common/op_kinds.h"
#include "common/pages.h"
#include "common/points.h"
#include "common/shape.h"
#include "common/unsure.h"
#include "tests/unit/destroy.h"
#include "tests/unit/locked.h"
#include "track/events.h"
#include "track/guarded.h"
#include "track/hold.h"
#include "track/hold_kind.h"
#include "track/inflight.h"
#include "track/inflight_calls.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/order.h"
#include "track/order_calls.h"
#include "track/staging.h"
#include "track/track.h"
#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/track_views.h"
#include "track/tracker.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/emulator.h"

enum { BASE = 0x100000, EVENT = 0xe000, LARGEST_PAGE = 64 << 10 };

static struct sc_track track;
static size_t page_bytes;
static uint32_t legacy, blocking, one, two;
static struct sc_ops ops;

/* Of a machine with such pages, whatever this one has. */
static void set_up_pages(size_t bytes)
{
    ck_assert_int_eq(sc_track_init(&track), 0);
    page_bytes = bytes;
    track.inflight.guards.page_mask = bytes - 1;
    legacy = sc_track_add_stream(&track, SC_STREAM_LEGACY, 0, 1, 0);
    blocking = sc_track_add_stream(&track, SC_STREAM_BLOCKING, legacy, 2, 0);
    one = sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 3, 0);
    two = sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 4, 0);
    errno = ENOTTY;
}

static void set_up(void)
{
    set_up_pages(4 << 10);
}

static void set_up_16k(void)
{
    set_up_pages(16 << 10);
}

static void set_up_64k(void)
{
    set_up_pages(LARGEST_PAGE);
}

static void tear_down(void)
{
    ck_assert_int_eq(errno, ENOTTY); /* nothing touches it */
    destroy_track(&track);
}

static struct sc_op_info plain(uint32_t stream, enum sc_direction direction, uintptr_t address,
                               size_t size_bytes)
{
    struct sc_range_info range = sc_track_find_range(&track, address);
    return (struct sc_op_info){.api = "copy",
                               .shape = {address, size_bytes, size_bytes, 1},
                               .ticket.stream = stream,
                               .direction = direction,
                               .kind = range.range ? range.kind : SC_REGISTERED,
                               .range = range.range};
}

/* `conflicts` is what the operation conflicts with. */
static void issue(struct sc_op_info *info, struct sc_ops *conflicts)
{
    SC_ISSUED(issued);
    sc_track_issue(&track, &(struct sc_order_call){0}, info, 1, &issued);
    *conflicts = issued.conflicts;
}

static struct sc_ticket copy(uint32_t stream, uintptr_t address)
{
    struct sc_op_info info = plain(stream, SC_H2D, address, 64);
    issue(&info, &ops);
    return info.ticket;
}

static unsigned in_flight(uintptr_t address)
{
    LOCKED(&track, sc_inflight_find_in(&track.inflight, address, 64, &ops));
    return ops.count;
}

static void synchronise(uint32_t stream, enum sc_scope scope)
{
    struct sc_point point = sc_track_sync_point(&track, stream, scope);
    sc_track_note_known(&track, &point, NULL, NULL);
}

static void record(uint32_t stream, uintptr_t event)
{
    struct sc_order_call call;
    struct sc_point point;
    sc_track_begin_record(&track, stream, &call, &point);
    sc_track_end_record(&track, &call, true);
    sc_track_set_event(&track, event, &point);
}

static void wait_for(uint32_t stream, uintptr_t event)
{
    struct sc_wait wait;
    sc_track_begin_wait(&track, stream, event, &wait);
    sc_track_end_wait(&track, &wait, true);
}

static void synchronise_event(uintptr_t event)
{
    struct sc_point point = sc_track_event_point(&track, event);
    sc_track_note_known(&track, &point, NULL, NULL);
}

static struct sc_deallocation take_down(uintptr_t address, enum sc_hold_kind kind, uint64_t max)
{
    struct sc_deallocation request = {.address = address,
                                      .size_bytes = 64,
                                      .hold = true,
                                      .kind = kind,
                                      .context = legacy,
                                      .max_held_bytes = max};
    sc_track_deallocate(&track, &request);
    return request;
}

static bool watched(void)
{
    return atomic_load(&track.front.libc_watch) != 0;
}

static void end_ready(void)
{
    uint32_t ready = sc_track_take_ready(&track, 0).hold;
    LOCKED(&track, sc_holds_end(&track.holds, ready));
}

START_TEST(a_wait_that_is_left_ends_unless_it_is_taken)
{
    copy(one, BASE);
    struct sc_deallocation left = take_down(BASE, SC_HOLD_WAIT, 0);
    ck_assert(LOCKED(&track, sc_holds_is_alive(&track.holds, left.held, left.held_age)));
    LOCKED(&track, sc_holds_give_up(&track.holds, left.held, left.held_age));
    ck_assert(!LOCKED(&track, sc_holds_is_alive(&track.holds, left.held, left.held_age)));
    ck_assert(!LOCKED(&track, sc_holds_have_work(&track.holds)));
    copy(one, BASE);
    struct sc_deallocation taken = take_down(BASE, SC_HOLD_WAIT, 0);
    LOCKED(&track, sc_holds_give_up(&track.holds, taken.held,
                                    left.held_age)); /* another one of that record */
    ck_assert(LOCKED(&track, sc_holds_is_alive(&track.holds, taken.held, taken.held_age)));
    sc_track_note_complete(&track, one, 2);
    ck_assert_uint_eq(sc_track_take_ready(&track, 0).hold, taken.held);
    LOCKED(&track, sc_holds_give_up(&track.holds, taken.held, taken.held_age));
    ck_assert(LOCKED(&track, sc_holds_is_alive(&track.holds, taken.held, taken.held_age)));
    LOCKED(&track, sc_holds_end(&track.holds, taken.held));
    sc_deallocation_end(&left);
    sc_deallocation_end(&taken);
}
END_TEST

START_TEST(streams_keep_the_handle_and_the_device)
{
    uint32_t stream = sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 0xabc, 3);
    ck_assert_uint_eq(sc_order_stream(&track.order, stream)->handle, 0xabc);
    ck_assert_int_eq(sc_order_stream(&track.order, stream)->device, 3);
    sc_track_remove_stream(&track, stream);
    ck_assert_uint_eq(sc_track_add_stream(&track, SC_STREAM_BLOCKING, legacy, 0xdef, 0), stream);
    ck_assert_uint_eq(sc_order_stream(&track.order, stream)->handle, 0xdef);
}
END_TEST

START_TEST(each_scope_waits_for_its_own)
{
    const uint32_t streams[] = {legacy, blocking, one};
    const enum sc_scope scopes[] = {SC_SCOPE_LEGACY, SC_SCOPE_STREAM, SC_SCOPE_CONTEXT};
    const unsigned left[3][3] = {{0, 0, 1}, {1, 0, 1}, {0, 0, 0}};
    for (int i = 0; i < 3; i++) {
        for (uintptr_t j = 0; j < 3; j++)
            copy(streams[2 - j], BASE + (2 - j) * 4096); /* legacy work last */
        synchronise(scopes[i] == SC_SCOPE_STREAM ? blocking : legacy, scopes[i]);
        for (uintptr_t j = 0; j < 3; j++)
            ck_assert_uint_eq(in_flight(BASE + j * 4096), left[i][j]);
        synchronise(legacy, SC_SCOPE_CONTEXT);
    }
    ck_assert_uint_eq(track.inflight.ops.live, 0);
    ck_assert_uint_eq(atomic_load(&track.operations), 9);
}
END_TEST

START_TEST(a_point_covers_what_was_there_when_it_was_taken)
{
    copy(one, BASE);
    struct sc_point point = sc_track_sync_point(&track, one, SC_SCOPE_STREAM);
    copy(one, BASE + 4096);
    sc_track_note_known(&track, &point, NULL, NULL);
    ck_assert_ptr_null(point.joined);
    ck_assert_uint_eq(in_flight(BASE), 0);
    ck_assert_uint_eq(in_flight(BASE + 4096), 1);
    point = sc_track_sync_point(&track, one, SC_SCOPE_STREAM);
    sc_track_release_point(&track, &point);
    ck_assert_uint_eq(in_flight(BASE + 4096), 1);
}
END_TEST

START_TEST(an_event_means_what_it_was_last_recorded_for)
{
    copy(one, BASE);
    record(one, EVENT);
    copy(two, BASE + 4096);
    record(two, EVENT);
    synchronise_event(EVENT);
    ck_assert_uint_eq(in_flight(BASE), 1);
    ck_assert_uint_eq(in_flight(BASE + 4096), 0);
}
END_TEST

START_TEST(a_wait_keeps_what_the_event_meant_then)
{
    copy(one, BASE);
    record(one, EVENT);
    wait_for(two, EVENT);
    copy(one, BASE + 4096);
    record(one, EVENT);
    LOCKED(&track, sc_events_forget(&track.events, &track.order, EVENT));
    synchronise(two, SC_SCOPE_STREAM);
    ck_assert_uint_eq(in_flight(BASE), 0);
    ck_assert_uint_eq(in_flight(BASE + 4096), 1);
}
END_TEST

START_TEST(an_event_that_is_not_known_orders_nothing)
{
    copy(one, BASE);
    record(one, EVENT);
    LOCKED(&track, sc_events_forget(&track.events, &track.order, EVENT));
    LOCKED(&track, sc_events_forget(&track.events, &track.order, EVENT));
    wait_for(two, EVENT);
    synchronise(two, SC_SCOPE_STREAM);
    synchronise_event(EVENT);
    ck_assert_uint_eq(in_flight(BASE), 1);
}
END_TEST

START_TEST(records_are_work)
{
    copy(legacy, BASE);
    record(blocking, EVENT);
    synchronise_event(EVENT);
    ck_assert_uint_eq(in_flight(BASE), 0);
    copy(blocking, BASE);
    record(legacy, EVENT);
    synchronise_event(EVENT);
    ck_assert_uint_eq(in_flight(BASE), 0);
}
END_TEST

/* Not on a blocking stream, and not if the event was never recorded. */
START_TEST(a_wait_is_work_on_legacy_only)
{
    copy(legacy, BASE);
    record(two, EVENT);
    wait_for(blocking, EVENT);
    synchronise(blocking, SC_SCOPE_STREAM);
    ck_assert_uint_eq(in_flight(BASE), 1);
    synchronise(legacy, SC_SCOPE_STREAM);
    copy(blocking, BASE);
    LOCKED(&track, sc_events_note_wait(&track.events, &track.order, legacy, EVENT + 1));
    synchronise(legacy, SC_SCOPE_STREAM);
    ck_assert_uint_eq(in_flight(BASE), 1);
    wait_for(legacy, EVENT);
    synchronise(legacy, SC_SCOPE_STREAM);
    ck_assert_uint_eq(in_flight(BASE), 0);
}
END_TEST

START_TEST(other_work_joins_legacy_and_is_joined)
{
    copy(legacy, BASE);
    synchronise(blocking, SC_SCOPE_STREAM);
    ck_assert_uint_eq(in_flight(BASE), 1);
    LOCKED(&track, sc_order_note_work(&track.order, blocking));
    synchronise(blocking, SC_SCOPE_STREAM);
    ck_assert_uint_eq(in_flight(BASE), 0);
    copy(blocking, BASE);
    LOCKED(&track, sc_order_note_work(&track.order, legacy));
    record(two, EVENT); /* a non-blocking stream has no part in it */
    synchronise_event(EVENT);
    ck_assert_uint_eq(in_flight(BASE), 1);
    LOCKED(&track, sc_order_note_work(&track.order, two));
    synchronise(legacy, SC_SCOPE_STREAM);
    ck_assert_uint_eq(in_flight(BASE), 0);
}
END_TEST

START_TEST(events_that_are_recorded_again_take_no_more_memory)
{
    char *bump = NULL;
    for (int i = 0; i < 100000; i++) {
        copy(one, BASE);
        record(one, EVENT + (uintptr_t)i % 8);
        LOCKED(&track,
               sc_events_note_wait(&track.events, &track.order, two, EVENT + (uintptr_t)i % 8));
        record(two, EVENT + 8);
        if (i == 1000)
            bump = track.order.arena.bump;
    }
    ck_assert_ptr_eq(track.order.arena.bump, bump);
    ck_assert_uint_eq(track.events.records.live, 9);
}
END_TEST

START_TEST(an_inserted_edge_ends_the_conflict)
{
    struct sc_op_info earlier = plain(one, SC_D2H, BASE, 64);
    struct sc_op_info later = plain(two, SC_H2D, BASE, 64);
    issue(&earlier, &ops);
    ck_assert_uint_eq(ops.count, 0);
    sc_track_conflicts(&track, &later, false, &ops);
    ck_assert_uint_eq(ops.count, 1);
    ck_assert_uint_eq(ops.ops[0].ticket.number, earlier.ticket.number);
    LOCKED(&track, sc_order_note_edge(&track.order, two, &ops.ops[0].ticket));
    issue(&later, &ops);
    ck_assert_uint_eq(ops.count, 0);
    synchronise(two, SC_SCOPE_STREAM);
    ck_assert_uint_eq(in_flight(BASE), 0);
}
END_TEST

START_TEST(conflicts_at_issue_are_those_before_it)
{
    for (uintptr_t i = 0; i < 12; i++) {
        struct sc_op_info info = plain(one, SC_D2H, BASE + i, 64);
        issue(&info, &ops);
    }
    struct sc_op_info later = plain(two, SC_D2H, BASE + 11, 64);
    sc_track_conflicts(&track, &later, false, &ops);
    ck_assert_uint_eq(ops.count, 12);
    ops.count = 0;
    issue(&later, &ops);
    ck_assert_uint_eq(ops.count, 12);
    ck_assert_uint_eq(later.ticket.number, 1);
    for (int i = 0; i < SC_TRACK_OPS_MAX; i++)
        ck_assert_uint_eq(ops.ops[i].ticket.stream, one);
}
END_TEST

static unsigned met(uint32_t stream, enum sc_direction direction, bool awaited)
{
    struct sc_op_info touch = plain(stream, direction, BASE, 64);
    sc_track_conflicts(&track, &touch, awaited, &ops);
    return ops.count;
}

START_TEST(a_call_meets_what_it_does_not_come_after)
{
    struct sc_op_info target = plain(one, SC_D2H, BASE, 64);
    issue(&target, &ops);
    ck_assert_uint_eq(met(legacy, SC_H2D, false), 1);
    ck_assert_uint_eq(met(one, SC_H2D, false), 0);
    LOCKED(&track, sc_order_note_edge(&track.order, legacy, &target.ticket));
    ck_assert_uint_eq(met(legacy, SC_H2D, false), 0);
    ck_assert_uint_eq(met(two, SC_D2H, false), 1);
    synchronise(one, SC_SCOPE_STREAM);
    ck_assert_uint_eq(met(two, SC_D2H, false), 0);
}
END_TEST

START_TEST(a_call_need_not_wait_for_what_is_complete_or_has_a_snapshot)
{
    struct sc_slot slot = {0};
    struct sc_op_info source = plain(one, SC_H2D, BASE, 64);
    source.slot = &slot;
    issue(&source, &ops);
    ck_assert_uint_eq(met(legacy, SC_D2H, false), 1);
    ck_assert_uint_eq(met(legacy, SC_D2H, true), 0);
    struct sc_op_info target = plain(two, SC_D2H, BASE, 64);
    issue(&target, &ops);
    ck_assert_uint_eq(met(legacy, SC_D2H, false), 2);
    ck_assert_uint_eq(met(legacy, SC_D2H, true), 1);
    sc_track_note_complete(&track, two, target.ticket.number);
    ck_assert_uint_eq(met(legacy, SC_D2H, false), 2);
    ck_assert_uint_eq(met(legacy, SC_D2H, true), 0);
}
END_TEST

START_TEST(what_waits_for_the_host_unseen_conflicts_with_nothing)
{
    struct sc_op_info source = plain(one, SC_H2D, BASE, 64);
    struct sc_op_info later = {.shape = source.shape, .direction = SC_D2H, .ticket.stream = two};
    source.unsure = SC_UNSURE_WAITS;
    issue(&source, &ops);
    ck_assert_uint_eq(met(legacy, SC_D2H, false), 0);
    sc_track_conflicts(&track, &later, false, &ops);
    ck_assert_uint_eq(ops.count, 0);
    source.unsure = 0;
    issue(&source, &ops); /* in its place */
    ck_assert_uint_eq(met(legacy, SC_D2H, false), 1);
    sc_track_conflicts(&track, &later, false, &ops);
    ck_assert_uint_eq(ops.count, 1);
    later.unsure = SC_UNSURE_WAITS;
    sc_track_conflicts(&track, &later, false, &ops);
    ck_assert_uint_eq(ops.count, 0);
}
END_TEST

static bool has_news(uintptr_t event)
{
    struct sc_behind behind;
    struct sc_point point;
    sc_track_event_work(&track, event, &point, &behind);
    bool any = point.stream || point.joined;
    sc_track_release_point(&track, &point);
    return any;
}

START_TEST(an_event_has_news_until_the_host_has_waited)
{
    ck_assert(!has_news(EVENT)); /* nobody has recorded it */
    record(one, EVENT);
    synchronise_event(EVENT);
    ck_assert(!has_news(EVENT));
    copy(one, BASE);
    record(one, EVENT);
    ck_assert(has_news(EVENT));
    synchronise(two, SC_SCOPE_STREAM);
    ck_assert(has_news(EVENT));
    synchronise(one, SC_SCOPE_STREAM);
    ck_assert(!has_news(EVENT));
}
END_TEST

START_TEST(an_event_of_a_blocking_stream_has_the_news_of_the_legacy_one)
{
    struct sc_order_call call;
    SC_ISSUED(issued);
    synchronise(blocking, SC_SCOPE_STREAM);
    struct sc_op_info info = plain(legacy, SC_H2D, BASE, 64);
    sc_track_begin_call(&track, legacy, &call);
    info.ticket.epoch = sc_order_place(&call);
    sc_track_issue(&track, &call, &info, 1, &issued);
    record(blocking, EVENT);
    ck_assert(has_news(EVENT));
    synchronise_event(EVENT);
    ck_assert_uint_eq(in_flight(BASE), 0);
}
END_TEST

START_TEST(an_event_has_the_news_of_streams_that_its_stream_waited_for)
{
    copy(one, BASE);
    record(one, EVENT);
    wait_for(two, EVENT);
    record(two, EVENT + 1);
    ck_assert(has_news(EVENT + 1));
    synchronise_event(EVENT + 1);
    ck_assert_uint_eq(in_flight(BASE), 0);
}
END_TEST

START_TEST(ranges_come_and_go)
{
    sc_track_add_range(&track, BASE, 4096, SC_PINNED, legacy, 77);
    struct sc_range_info info = sc_track_find_range(&track, BASE + 4095);
    ck_assert(sc_track_may_be_host(&track, BASE + 4095));
    ck_assert(!sc_track_may_be_host(&track, BASE - 1));
    ck_assert_uint_ne(info.range, 0);
    ck_assert_uint_eq(info.address, BASE);
    ck_assert_uint_eq(info.size_bytes, 4096);
    ck_assert_int_eq(info.kind, SC_PINNED);
    ck_assert_uint_eq(info.context, legacy);
    ck_assert_uint_eq(info.origin, 77);
    ck_assert_uint_eq(sc_track_reread_range(&track, info.range).address, BASE);
    ck_assert_uint_eq(sc_track_reread_range(&track, info.range).size_bytes, 4096);
    ck_assert_uint_eq(sc_track_reread_range(&track, info.range).origin, 77);
    LOCKED(&track, sc_inflight_remove_range_at(&track.inflight, BASE + 5));
    ck_assert_uint_eq(sc_track_find_range(&track, BASE).range, 0);
    ck_assert(!sc_track_may_be_host(&track, BASE));
    ck_assert_uint_eq(sc_track_reread_range(&track, info.range).size_bytes, 0);
    LOCKED(&track, sc_inflight_remove_range_at(&track.inflight, BASE));
}
END_TEST

START_TEST(a_range_says_what_could_be_in_conflict)
{
    sc_track_add_range(&track, BASE, 8192, SC_PINNED, legacy, 77);
    uint32_t range = sc_track_find_range(&track, BASE).range;
    ck_assert(!sc_track_may_conflict(&track, range, SC_D2H, two));
    copy(one, BASE);
    ck_assert(sc_track_may_conflict(&track, range, SC_D2H, two));
    ck_assert(!sc_track_may_conflict(&track, range, SC_D2H, one)); /* they are ordered */
    ck_assert(!sc_track_may_conflict(&track, range, SC_H2D, two)); /* readers among themselves */
    ck_assert(!sc_track_may_conflict(&track, 0, SC_D2H, two));
    copy(two, BASE + 4096);
    ck_assert(sc_track_may_conflict(&track, range, SC_D2H, two));
    ck_assert(sc_track_may_conflict(&track, range, SC_D2H, one));
    LOCKED(&track, sc_inflight_remove_range_at(&track.inflight, BASE));
    ck_assert(sc_track_may_conflict(&track, 0, SC_D2H, one));
}
END_TEST

START_TEST(a_range_is_of_one_stream_again_when_it_was_idle)
{
    sc_track_add_range(&track, BASE, 8192, SC_PINNED, legacy, 77);
    uint32_t range = sc_track_find_range(&track, BASE).range;
    copy(one, BASE);
    copy(two, BASE + 4096);
    synchronise(one, SC_SCOPE_STREAM);
    ck_assert(
        sc_track_may_conflict(&track, range, SC_D2H, two)); /* nobody keeps count of streams */
    synchronise(two, SC_SCOPE_STREAM);
    ck_assert(!sc_track_may_conflict(&track, range, SC_D2H, one));
    copy(one, BASE);
    ck_assert(sc_track_may_conflict(&track, range, SC_D2H, two));
    ck_assert(!sc_track_may_conflict(&track, range, SC_D2H, one));
}
END_TEST

START_TEST(a_range_says_whether_it_has_sources)
{
    sc_track_add_range(&track, BASE, 8192, SC_PINNED, legacy, 77);
    uint32_t range = sc_track_find_range(&track, BASE).range;
    ck_assert(!sc_track_may_seal(&track, range, SC_PINNED));
    ck_assert(sc_track_may_seal(&track, range, SC_REGISTERED)); /* which may share its pages */
    ck_assert(sc_track_may_seal(&track, 0, SC_PAGEABLE));
    copy(one, BASE);
    ck_assert(sc_track_may_seal(&track, range, SC_PINNED));
    synchronise(one, SC_SCOPE_STREAM);
    ck_assert(!sc_track_may_seal(&track, range, SC_PINNED));
    copy(one, BASE);
    LOCKED(&track, sc_inflight_remove_range_at(&track.inflight, BASE));
    sc_track_add_range(&track, BASE, 8192, SC_PINNED, legacy, 78);
    range = sc_track_find_range(&track, BASE).range;
    ck_assert(sc_track_may_seal(&track, range, SC_PINNED)); /* one is left that lies on none */
}
END_TEST

static bool may_seal(uintptr_t address)
{
    return sc_track_may_seal(&track, sc_track_find_range(&track, address).range, SC_PINNED);
}

START_TEST(pinned_ranges_that_share_pages_have_their_neighbours_sources)
{
    sc_track_add_range(&track, BASE, 2048, SC_PINNED, legacy, 77);
    sc_track_add_range(&track, BASE + 2048, 496, SC_PINNED, legacy, 77);
    sc_track_add_range(&track, BASE + 8192, 4096, SC_PINNED, legacy, 77);
    ck_assert(!may_seal(BASE + 2048));
    copy(one, BASE + 8192); /* from whole pages */
    ck_assert(!may_seal(BASE + 2048));
    copy(one, BASE);
    ck_assert(may_seal(BASE + 2048));
    synchronise(one, SC_SCOPE_STREAM);
    ck_assert(!may_seal(BASE + 2048));
    copy(two, BASE);
    LOCKED(&track, sc_inflight_remove_range_at(&track.inflight, BASE));
    synchronise(two, SC_SCOPE_STREAM);
    ck_assert(!may_seal(BASE + 2048));
    copy(two, BASE + 2048);
    ck_assert(!may_seal(BASE + 8192));
}
END_TEST

START_TEST(the_ranges_of_a_context_go_with_it)
{
    uint32_t other = sc_track_add_stream(&track, SC_STREAM_LEGACY, 0, 9, 1);
    for (uintptr_t i = 0; i < 300; i++)
        sc_track_add_range(&track, BASE + i * 4096, 4096, SC_PINNED, i % 3 ? other : legacy, 0);
    LOCKED(&track, sc_inflight_remove_ranges_of(&track.inflight, other));
    for (uintptr_t i = 0; i < 300; i++)
        ck_assert_int_eq(sc_track_find_range(&track, BASE + i * 4096).range != 0, i % 3 == 0);
}
END_TEST

START_TEST(with_nothing_in_flight_nothing_is_held)
{
    struct sc_deallocation request = take_down(BASE, SC_HOLD_FREE, 0);
    ck_assert_uint_eq(request.found.count, 0);
    ck_assert_uint_eq(request.held, 0);
    ck_assert(!request.must_wait);
    ck_assert_uint_eq(track.holds.oldest, 0);
}
END_TEST

START_TEST(without_a_hold_the_operations_are_only_named)
{
    struct sc_ticket ticket = copy(one, BASE);
    struct sc_deallocation request = {.address = BASE + 63, .size_bytes = 1};
    sc_track_deallocate(&track, &request);
    ck_assert_uint_eq(request.found.count, 1);
    ck_assert_uint_eq(request.found.ops[0].ticket.number, ticket.number);
    ck_assert_uint_eq(request.held, 0);
    ck_assert(!request.must_wait);
    ck_assert_uint_eq(in_flight(BASE), 0);
}
END_TEST

START_TEST(a_held_free_is_released_when_its_operations_are_complete)
{
    struct sc_ticket ticket = copy(one, BASE);
    struct sc_ticket awaited[2];
    struct sc_deallocation request = take_down(BASE, SC_HOLD_FREE, 64);
    ck_assert_uint_eq(request.found.count, 1);
    ck_assert_uint_ne(request.held, 0);
    ck_assert(!request.must_wait);
    ck_assert_uint_eq(in_flight(BASE), 0);
    ck_assert_uint_ne(track.holds.oldest, 0);
    ck_assert(sc_track_is_held(&track, BASE + 63, 1, SC_HOLDS_REAPERS));
    ck_assert(!sc_track_is_held(&track, BASE + 64, 1, SC_HOLDS_REAPERS));
    ck_assert(sc_track_is_held(&track, BASE, 1, SC_HOLDS_FREED | SC_HOLDS_STARTING));
    ck_assert(!sc_track_is_held(&track, BASE + 1, 1, SC_HOLDS_FREED | SC_HOLDS_STARTING));
    ck_assert_uint_eq(LOCKED(&track, sc_holds_count_awaited(&track.holds)), 1);
    ck_assert_uint_eq(LOCKED(&track, sc_holds_list_awaited(&track.holds, 0, awaited, 2)), 1);
    ck_assert_uint_eq(awaited[0].stream, one);
    ck_assert_uint_eq(awaited[0].number, ticket.number);
    ck_assert_uint_eq(sc_track_take_ready(&track, 0).hold, 0);
    sc_track_note_complete(&track, one, ticket.number);
    ck_assert_uint_eq(LOCKED(&track, sc_holds_count_awaited(&track.holds)), 0);
    ck_assert_uint_eq(LOCKED(&track, sc_holds_list_awaited(&track.holds, 0, awaited, 2)), 0);
    struct sc_release release = sc_track_take_ready(&track, 0);
    ck_assert_uint_eq(release.hold, request.held);
    ck_assert_uint_eq(release.age, request.held_age);
    ck_assert_int_eq(release.kind, SC_HOLD_FREE);
    ck_assert_uint_eq(release.address, BASE);
    ck_assert_uint_eq(release.size_bytes, 64);
    ck_assert_uint_eq(release.context, legacy);
    ck_assert(
        sc_track_is_held(&track, BASE, 1, SC_HOLDS_REAPERS)); /* until it has really gone back */
    LOCKED(&track, sc_holds_end(&track.holds, release.hold));
    ck_assert(!sc_track_is_held(&track, BASE, 1, SC_HOLDS_REAPERS));
    ck_assert_uint_eq(track.holds.oldest, 0);
}
END_TEST

START_TEST(a_release_can_be_put_back)
{
    copy(one, BASE);
    take_down(BASE, SC_HOLD_FREE, 64);
    synchronise(one, SC_SCOPE_STREAM);
    struct sc_release release = sc_track_take_ready(&track, 0);
    ck_assert_uint_ne(release.hold, 0);
    ck_assert_uint_eq(sc_track_take_ready(&track, 0).hold, 0);
    LOCKED(&track, sc_holds_put_back(&track.holds, release.hold));
    ck_assert_uint_eq(sc_track_take_ready(&track, release.age).hold, 0);
    ck_assert_uint_eq(sc_track_take_ready(&track, 0).hold, release.hold);
}
END_TEST

START_TEST(a_hold_lives_until_it_ends_whoever_comes_after)
{
    copy(one, BASE);
    copy(one, BASE + 4096);
    struct sc_deallocation first = take_down(BASE, SC_HOLD_WAIT, 0);
    struct sc_deallocation second = take_down(BASE + 4096, SC_HOLD_WAIT, 0);
    ck_assert(LOCKED(&track, sc_holds_is_alive(&track.holds, first.held, first.held_age)));
    LOCKED(&track, sc_holds_end(&track.holds, first.held));
    ck_assert(!LOCKED(&track, sc_holds_is_alive(&track.holds, first.held, first.held_age)));
    copy(one, BASE);
    struct sc_deallocation third = take_down(BASE, SC_HOLD_WAIT, 0);
    ck_assert_uint_eq(third.held, first.held); /* the record is recycled */
    ck_assert(!LOCKED(&track, sc_holds_is_alive(&track.holds, first.held, first.held_age)));
    ck_assert(LOCKED(&track, sc_holds_is_alive(&track.holds, third.held, third.held_age)));
    ck_assert(LOCKED(&track, sc_holds_is_alive(&track.holds, second.held, second.held_age)));
    LOCKED(&track, sc_holds_end(&track.holds, second.held));
    LOCKED(&track, sc_holds_end(&track.holds, third.held));
    ck_assert(!LOCKED(&track, sc_holds_is_alive(&track.holds, third.held, third.held_age)));
}
END_TEST

START_TEST(a_free_of_what_is_held_is_held_behind_it)
{
    struct sc_ticket ticket = copy(one, BASE);
    struct sc_deallocation unregister = take_down(BASE, SC_HOLD_UNMAP, UINT64_MAX);
    struct sc_deallocation freed = take_down(BASE, SC_HOLD_FREE, UINT64_MAX);
    ck_assert_uint_eq(freed.found.count, 0);
    ck_assert_uint_ne(freed.held, 0);
    sc_track_note_complete(&track, one, ticket.number);
    ck_assert_uint_eq(sc_track_take_ready(&track, 0).hold, unregister.held);
    ck_assert_uint_eq(sc_track_take_ready(&track, 0).hold, 0);
    LOCKED(&track, sc_holds_end(&track.holds, unregister.held));
    ck_assert_uint_eq(sc_track_take_ready(&track, 0).hold, freed.held);
}
END_TEST

/* Launches use freed memory; those that are not complete still need it when it goes back. */
START_TEST(what_goes_back_is_not_tracked_any_more)
{
    copy(one, BASE);
    struct sc_deallocation request = take_down(BASE, SC_HOLD_FREE, UINT64_MAX);
    struct sc_ticket complete = copy(one, BASE);
    copy(two, BASE + 8);
    struct sc_ticket beside = copy(one, BASE + 64);
    LOCKED(&track, sc_holds_require_in(&track.holds, BASE, 64, &complete));
    ck_assert_uint_eq(sc_track_take_ready(&track, 0).hold, 0);
    sc_track_note_complete(&track, one, beside.number);
    ck_assert_uint_eq(in_flight(BASE), 2);
    ck_assert_uint_eq(sc_track_take_ready(&track, 0).hold, request.held);
    ck_assert_uint_eq(in_flight(BASE), 1);
    ck_assert_uint_eq(ops.ops[0].ticket.stream, two);
    ck_assert_uint_eq(in_flight(BASE + 64), 2);
}
END_TEST

static unsigned held_before(uint32_t stream, enum sc_direction direction, uintptr_t address)
{
    struct sc_op_info info = plain(stream, direction, address, 64);
    struct sc_ticket tickets[4];
    unsigned count = LOCKED(&track, sc_holds_find_unordered(&track.holds, &info, tickets, 4));
    for (unsigned i = 0; i < count; i++)
        LOCKED(&track, sc_order_note_edge(&track.order, stream, &tickets[i]));
    return count;
}

START_TEST(what_uses_freed_memory_has_to_come_after_what_was_in_flight)
{
    struct sc_op_info down = plain(two, SC_D2H, BASE + 4096, 64);
    copy(one, BASE);
    copy(one, BASE + 4096);
    issue(&down, &ops);
    take_down(BASE, SC_HOLD_FREE, UINT64_MAX);
    take_down(BASE + 4096, SC_HOLD_FREE, UINT64_MAX);
    ck_assert_uint_eq(held_before(blocking, SC_H2D, BASE), 0); /* two readers */
    ck_assert_uint_eq(held_before(one, SC_D2H, BASE), 0);      /* on one stream */
    ck_assert_uint_eq(held_before(blocking, SC_D2H, BASE), 1);
    ck_assert_uint_eq(held_before(blocking, SC_D2H, BASE), 0); /* ordered */
    ck_assert_uint_eq(held_before(legacy, SC_H2D, BASE + 4096), 2);
    ck_assert_uint_eq(held_before(legacy, SC_H2D, BASE + 64), 0);
}
END_TEST

START_TEST(past_max_held_nothing_changes_and_the_caller_waits)
{
    copy(one, BASE);
    copy(one, BASE + 4096);
    ck_assert_uint_ne(take_down(BASE, SC_HOLD_FREE, 100).held, 0);
    struct sc_deallocation request = take_down(BASE + 4096, SC_HOLD_FREE, 100);
    ck_assert(request.must_wait);
    ck_assert_uint_eq(request.held, 0);
    ck_assert_uint_eq(request.found.count, 1);
    ck_assert_uint_eq(in_flight(BASE + 4096), 1);
    request = take_down(BASE + 4096, SC_HOLD_WAIT, 100);
    ck_assert(!request.must_wait);
    ck_assert_uint_ne(request.held, 0);
    ck_assert_uint_eq(request.found.count, 1);
    ck_assert_uint_eq(in_flight(BASE + 4096), 0);
    struct sc_hold_totals totals = LOCKED(&track, sc_holds_totals(&track.holds));
    ck_assert_uint_eq(totals.peak_bytes, 64);
}
END_TEST

static bool is_of_stream_one(const struct sc_op_info *op)
{
    return op->ticket.stream == one;
}

START_TEST(a_call_that_leaves_the_memory_waits_for_what_it_hurts)
{
    copy(two, BASE);
    struct sc_ticket hurt = copy(one, BASE);
    struct sc_deallocation request = {.address = BASE,
                                      .size_bytes = 64,
                                      .hold = true,
                                      .kind = SC_HOLD_WAIT,
                                      .hurts = is_of_stream_one,
                                      .stays = true};
    sc_track_deallocate(&track, &request);
    ck_assert_uint_eq(request.found.count, 1);
    ck_assert_uint_eq(request.found.ops[0].ticket.stream, one);
    ck_assert_uint_ne(request.held, 0);
    ck_assert_uint_eq(in_flight(BASE), 2);
    ck_assert_uint_eq(sc_track_take_ready(&track, 0).hold, 0);
    sc_track_note_complete(&track, one, hurt.number);
    ck_assert_uint_eq(sc_track_take_ready(&track, 0).hold, request.held);
    LOCKED(&track, sc_holds_end(&track.holds, request.held));
    request.hold = request.stays = false;
    sc_track_deallocate(&track, &request);
    ck_assert_uint_eq(request.found.count, 1);
    ck_assert_uint_eq(in_flight(BASE), 1);
}
END_TEST

START_TEST(operations_ranges_and_holds_are_met)
{
    ck_assert(!sc_track_overlaps(&track, BASE, 1 << 20));
    copy(one, BASE);
    ck_assert(sc_track_overlaps(&track, BASE + 63, 1));
    ck_assert(!sc_track_overlaps(&track, BASE + 64, 1 << 20));
    struct sc_deallocation request = take_down(BASE, SC_HOLD_FREE, 100);
    ck_assert_uint_eq(in_flight(BASE), 0);
    ck_assert(sc_track_overlaps(&track, BASE, 64));
    LOCKED(&track, sc_holds_end(&track.holds, request.held));
    ck_assert(!sc_track_overlaps(&track, BASE, 64));
    sc_track_add_range(&track, BASE, 4096, SC_PINNED, legacy, 0);
    ck_assert(sc_track_overlaps(&track, BASE + 4095, 1 << 20));
    ck_assert(!sc_track_overlaps(&track, BASE + 4096, 1 << 20));
}
END_TEST

START_TEST(a_hold_that_cannot_name_all_streams_is_not_made)
{
    for (int i = 0; i <= SC_HOLD_TICKETS_MAX; i++)
        copy(sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 5, 0), BASE);
    struct sc_deallocation request = take_down(BASE, SC_HOLD_FREE, UINT64_MAX);
    ck_assert(request.must_wait);
    ck_assert_uint_eq(request.held, 0);
    ck_assert_uint_eq(track.holds.oldest, 0);
    ck_assert_uint_eq(in_flight(BASE), SC_HOLD_TICKETS_MAX + 1);
    synchronise(legacy, SC_SCOPE_CONTEXT);
    ck_assert_uint_eq(track.inflight.ops.live, 0);
}
END_TEST

static void hold_behind(uint32_t stream, uintptr_t address)
{
    copy(stream, address);
    ck_assert_uint_ne(take_down(address, SC_HOLD_FREE, UINT64_MAX).held, 0);
}

/* However many holds wait for one stream, what waits for another is asked about. */
START_TEST(each_awaited_stream_is_named_once_by_its_latest_operation)
{
    enum { HOLDS = 1000 };
    struct sc_ticket awaited[3];
    uint32_t three = sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 5, 0);
    for (uintptr_t i = 0; i < HOLDS; i++)
        hold_behind(two, BASE + i * 4096);
    hold_behind(three, BASE + HOLDS * 4096);
    hold_behind(one, BASE + (HOLDS + 1) * 4096);
    ck_assert_uint_eq(LOCKED(&track, sc_holds_count_awaited(&track.holds)), HOLDS + 2);
    ck_assert_uint_eq(LOCKED(&track, sc_holds_list_awaited(&track.holds, 0, awaited, 2)), 2);
    ck_assert_uint_eq(awaited[0].stream, one);
    ck_assert_uint_eq(awaited[1].stream, two);
    ck_assert_uint_eq(awaited[1].number, HOLDS);
    ck_assert_uint_eq(LOCKED(&track, sc_holds_list_awaited(&track.holds, two, awaited, 2)), 1);
    ck_assert_uint_eq(awaited[0].stream, three);
    ck_assert_uint_eq(LOCKED(&track, sc_holds_list_awaited(&track.holds, three, awaited, 2)), 0);
    ck_assert_uint_eq(LOCKED(&track, sc_holds_list_awaited(&track.holds, 0, awaited, 3)), 3);
    sc_track_note_complete(&track, two, HOLDS - 1);
    ck_assert_uint_eq(LOCKED(&track, sc_holds_list_awaited(&track.holds, one, awaited, 3)), 2);
    sc_track_note_complete(&track, two, HOLDS);
    ck_assert_uint_eq(LOCKED(&track, sc_holds_list_awaited(&track.holds, one, awaited, 3)), 1);
}
END_TEST

START_TEST(any_number_of_operations_is_taken_down)
{
    sc_track_add_range(&track, BASE, 64, SC_PINNED, legacy, 0);
    for (int round = 0; round < 2; round++) {
        for (uintptr_t i = 0; i < 150; i++) { /* 0 to 74 on the range, 75 to 149 in both grids */
            struct sc_op_info info = plain(i % 2 ? one : two, SC_H2D, BASE, 64 + i);
            info.kind = i < 75 ? SC_PINNED : SC_REGISTERED;
            issue(&info, &ops);
        }
        struct sc_deallocation request = take_down(BASE, SC_HOLD_FREE_PINNED, UINT64_MAX);
        ck_assert_uint_eq(request.found.count, 150);
        ck_assert_uint_eq(track.inflight.ops.live, 0);
        ck_assert_uint_eq(LOCKED(&track, sc_holds_count_awaited(&track.holds)), 2);
        synchronise(legacy, SC_SCOPE_CONTEXT);
        end_ready();
    }
}
END_TEST

/* Once the hold is known, another thread may give the memory back, and a third have it anew. */
START_TEST(what_the_driver_has_back_is_no_range_any_more)
{
    const enum sc_hold_kind kinds[] = {SC_HOLD_FREE_PINNED, SC_HOLD_UNREGISTER, SC_HOLD_FREE,
                                       SC_HOLD_WAIT};
    for (unsigned i = 0; i < 4; i++) {
        sc_track_add_range(&track, BASE, 64, SC_REGISTERED, legacy, 0);
        copy(one, BASE);
        ck_assert_uint_ne(take_down(BASE, kinds[i], UINT64_MAX).held, 0);
        ck_assert_int_eq(sc_track_find_range(&track, BASE).range != 0, i >= 2);
    }
    ck_assert(!take_down(BASE + 64, SC_HOLD_UNREGISTER, UINT64_MAX).held);
    ck_assert_uint_ne(sc_track_find_range(&track, BASE).range, 0);
}
END_TEST

START_TEST(libc_is_watched_while_heap_memory_is_in_flight_or_held)
{
    sc_track_add_range(&track, BASE, 4096, SC_PINNED, legacy, 0);
    copy(one, BASE);
    ck_assert(!watched());
    ck_assert(!sc_track_may_have(&track, SC_NEAR_HEAP, BASE, 64));
    take_down(BASE, SC_HOLD_FREE_PINNED, UINT64_MAX);
    ck_assert(watched());
    ck_assert(sc_track_may_have(&track, SC_NEAR_HEAP, BASE, 64));
    synchronise(one, SC_SCOPE_STREAM);
    end_ready();
    ck_assert(!watched());
    copy(one, BASE + 8192);
    ck_assert(watched());
    ck_assert(sc_track_may_have(&track, SC_NEAR_HEAP, BASE + 8192, 1));
    synchronise(one, SC_SCOPE_STREAM);
    ck_assert(!watched());
    ck_assert(!sc_track_may_have(&track, SC_NEAR_HEAP, BASE + 8192, 1));
}
END_TEST

START_TEST(complete_is_not_known)
{
    struct sc_ticket ticket = copy(one, BASE);
    sc_track_note_complete(&track, one, ticket.number);
    sc_track_note_complete(&track, one, 0); /* never goes back */
    ck_assert(sc_order_complete(&track.order, &ticket));
    ck_assert_uint_eq(in_flight(BASE), 1);
    ck_assert_uint_eq(take_down(BASE, SC_HOLD_FREE, UINT64_MAX).found.count, 1);
}
END_TEST

/* A synchronise that ends many operations lets other threads in between. */
START_TEST(a_hundred_thousand_operations_retire)
{
    for (uintptr_t i = 0; i < 100000; i++)
        copy(i % 2 ? one : blocking, BASE + i * 64);
    ck_assert_uint_eq(track.inflight.ops.live, 100000);
    synchronise(legacy, SC_SCOPE_CONTEXT);
    ck_assert_uint_eq(track.inflight.ops.live, 0);
    ck_assert(!watched());
}
END_TEST

enum { THREADS = 4, ROUNDS = 3000 };

/* One thread of a program: it copies out of a buffer of its own and out of one that all share, and
 * frees its own in flight every third time. */
static void *run_program(void *argument)
{
    uintptr_t number = (uintptr_t)argument;
    uintptr_t own = BASE + (number + 1) * 0x10000;
    uint32_t stream = sc_track_add_stream(
        &track, number % 2 ? SC_STREAM_BLOCKING : SC_STREAM_NONBLOCKING, legacy, number + 16, 0);
    bool wrong = false;
    for (int round = 0; round < ROUNDS; round++) {
        SC_OPS(found);
        sc_track_add_range(&track, own, 4096, round % 2 ? SC_PINNED : SC_REGISTERED, legacy, 0);
        struct sc_op_info mine = plain(stream, SC_D2H, own, 256);
        struct sc_op_info shared = plain(stream, SC_H2D, BASE, 64);
        issue(&mine, &found);
        wrong |= found.count != 0;
        issue(&shared, &found);
        wrong |= found.count != 0;
        record(stream, EVENT + number);
        LOCKED(&track, sc_events_note_wait(&track.events, &track.order, stream,
                                           EVENT + (number + 1) % THREADS));
        LOCKED(&track, sc_order_note_work(&track.order, stream));
        if (round % 3)
            synchronise(stream, SC_SCOPE_STREAM);
        struct sc_deallocation request = {.address = own,
                                          .size_bytes = 4096,
                                          .hold = true,
                                          .kind = SC_HOLD_FREE,
                                          .max_held_bytes = UINT64_MAX};
        sc_track_deallocate(&track, &request);
        wrong |= (request.held && round % 3) || request.must_wait; /* others may have waited, too */
        LOCKED(&track, sc_inflight_remove_range_at(&track.inflight, own));
        wrong |= sc_track_find_range(&track, own).range != 0;
        if (request.held) {
            sc_track_note_complete(&track, stream, mine.ticket.number);
            while (
                LOCKED(&track, sc_holds_is_alive(&track.holds, request.held, request.held_age))) {
                struct sc_release release = sc_track_take_ready(&track, 0);
                if (release.hold) /* maybe another thread's */
                    LOCKED(&track, sc_holds_end(&track.holds, release.hold));
            }
        }
    }
    sc_track_remove_stream(&track, stream);
    return wrong ? &track : NULL;
}

START_TEST(threads_share_the_tracker)
{
    pthread_t threads[THREADS];
    sc_track_add_range(&track, BASE, 64, SC_PINNED, legacy, 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_program, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        ck_assert_ptr_null(wrong);
    }
    synchronise(legacy, SC_SCOPE_CONTEXT);
    ck_assert_uint_eq(track.inflight.ops.live, 0);
    ck_assert_uint_eq(track.holds.oldest, 0);
}
END_TEST

/* An operation on 64 bytes of a page, which is guarded whole. */
static void issue_guarded(enum sc_direction direction, uintptr_t address)
{
    struct sc_op_info info = plain(one, direction, address, 64);
    info.guard_address = address & ~(page_bytes - 1);
    info.guard_bytes = page_bytes;
    info.access = direction == SC_H2D ? SC_ACCESS_READ : SC_ACCESS_NONE;
    info.stable = true;
    issue(&info, &ops);
}

static void ck_assert_unwatched(enum sc_no_verdict_reason reason, uint64_t operations,
                                uint64_t bytes)
{
    const struct sc_no_verdicts *counts = &track.no_verdicts;
    ck_assert_uint_eq(sc_no_verdicts_of(counts, SC_NO_VERDICT_UNWATCHED, reason), operations);
    ck_assert_uint_eq(sc_no_verdicts_of_unit(counts, SC_NO_VERDICT_UNWATCHED), operations);
    ck_assert_uint_eq(sc_no_verdicts_bytes_of(counts, reason), bytes);
}

START_TEST(what_is_let_go_for_other_bytes_is_not_watched)
{
    static char page[2 * LARGEST_PAGE];
    uintptr_t base = ((uintptr_t)page + page_bytes - 1) & ~(page_bytes - 1);
    uintptr_t last = base + page_bytes - 64;
    issue_guarded(SC_D2H, base);
    issue_guarded(SC_D2H, last);
    LOCKED(&track, sc_guarded_unprotect(&track.inflight, last, 8, SC_TOUCH_READ, true,
                                        SC_NO_VERDICT_NEIGHBOURS));
    ck_assert_unwatched(SC_NO_VERDICT_NEIGHBOURS, 1, 64);
    LOCKED(&track, sc_guarded_unprotect(&track.inflight, base + 200, 8, SC_TOUCH_WRITE, true,
                                        SC_NO_VERDICT_NEIGHBOURS));
    ck_assert_unwatched(SC_NO_VERDICT_NEIGHBOURS, 1, 64);
}
END_TEST

START_TEST(a_source_that_is_compared_instead_is_watched)
{
    static char page[2 * LARGEST_PAGE];
    uintptr_t base = ((uintptr_t)page + page_bytes - 1) & ~(page_bytes - 1);
    issue_guarded(SC_H2D, base + page_bytes - 64);
    LOCKED(&track, sc_guarded_unprotect(&track.inflight, base + 64, 8, SC_TOUCH_WRITE, true,
                                        SC_NO_VERDICT_NEIGHBOURS));
    ck_assert_unwatched(SC_NO_VERDICT_NEIGHBOURS, 0, 0);
    issue_guarded(SC_H2D, base + 128);
    LOCKED(&track, sc_guarded_unprotect(&track.inflight, base + 64, 8, SC_TOUCH_WRITE, false,
                                        SC_NO_VERDICT_KERNEL));
    ck_assert_unwatched(SC_NO_VERDICT_KERNEL, 1, 64);
}
END_TEST

/* Four rows of 16 bytes with gaps of 16. */
static void issue_rows(enum sc_direction direction, uintptr_t address, bool stable)
{
    struct sc_op_info info = plain(one, direction, address, 112);
    info.shape = (struct sc_shape){address, 16, 32, 4};
    info.guard_address = address & ~(page_bytes - 1);
    info.guard_bytes = page_bytes;
    info.access = direction == SC_H2D ? SC_ACCESS_READ : SC_ACCESS_NONE;
    info.stable = stable;
    issue(&info, &ops);
}

START_TEST(what_is_let_go_between_rows_is_compared_or_counted)
{
    static char page[2 * LARGEST_PAGE];
    uintptr_t base = ((uintptr_t)page + page_bytes - 1) & ~(page_bytes - 1);
    issue_rows(SC_H2D, base, true);
    LOCKED(&track, sc_guarded_unprotect(&track.inflight, base + 16, 16, SC_TOUCH_WRITE, true,
                                        SC_NO_VERDICT_NEIGHBOURS));
    ck_assert_unwatched(SC_NO_VERDICT_NEIGHBOURS, 0, 0);
    issue_rows(SC_H2D, base, false); /* a kernel may write it */
    LOCKED(&track, sc_guarded_unprotect(&track.inflight, base + 16, 16, SC_TOUCH_WRITE, true,
                                        SC_NO_VERDICT_NEIGHBOURS));
    ck_assert_unwatched(SC_NO_VERDICT_NEIGHBOURS, 1, 64);
    issue_rows(SC_D2H, base + 256, false);
    LOCKED(&track, sc_guarded_unprotect(&track.inflight, base + 256 + 100, 4, SC_TOUCH_READ, true,
                                        SC_NO_VERDICT_NEIGHBOURS));
    ck_assert_unwatched(SC_NO_VERDICT_NEIGHBOURS, 1, 64); /* it is the operation that is touched */
    issue_rows(SC_D2H, base + 256, false);
    LOCKED(&track, sc_guarded_unprotect(&track.inflight, base + 256 + 112, 4, SC_TOUCH_READ, true,
                                        SC_NO_VERDICT_NEIGHBOURS));
    ck_assert_unwatched(SC_NO_VERDICT_NEIGHBOURS, 2, 128);
}
END_TEST

START_TEST(guards_that_are_given_up_are_counted_and_gone)
{
    issue_guarded(SC_D2H, BASE);
    issue_guarded(SC_D2H, BASE + 10 * page_bytes);
    LOCKED(&track, sc_guarded_give_up(&track.inflight));
    ck_assert_unwatched(SC_NO_VERDICT_MAPPINGS, 2, 128);
    LOCKED(&track, sc_guarded_find_touched(&track.inflight, BASE, 8, SC_TOUCH_READ, &ops));
    ck_assert_uint_eq(ops.count, 0);
}
END_TEST

START_TEST(what_is_complete_stays_protected_and_may_be_touched)
{
    issue_guarded(SC_D2H, BASE);
    ck_assert(LOCKED(&track, sc_inflight_watches_page(&track.inflight, BASE, SC_TOUCH_READ)));
    sc_track_note_complete(&track, one, 1);
    ck_assert_int_eq(LOCKED(&track, sc_spans_access(&track.inflight.guards, BASE)), SC_ACCESS_NONE);
    ck_assert(!LOCKED(&track, sc_inflight_watches_page(&track.inflight, BASE, SC_TOUCH_READ)));
    LOCKED(&track, sc_guarded_find_touched(&track.inflight, BASE, 8, SC_TOUCH_READ, &ops));
    ck_assert_uint_eq(ops.count, 0);
    LOCKED(&track, sc_guarded_unprotect(&track.inflight, BASE, 8, SC_TOUCH_READ, true,
                                        SC_NO_VERDICT_NEIGHBOURS));
    ck_assert_int_eq(LOCKED(&track, sc_spans_access(&track.inflight.guards, BASE)), SC_ACCESS_ALL);
    ck_assert_unwatched(SC_NO_VERDICT_NEIGHBOURS, 0, 0);
}
END_TEST

/* The page is still protected for a destination that is complete: a read of it is none beside a
 * source. */
START_TEST(a_source_is_watched_for_writes_alone)
{
    issue_guarded(SC_D2H, BASE);
    sc_track_note_complete(&track, one, 1);
    issue_guarded(SC_H2D, BASE);
    ck_assert(!LOCKED(&track, sc_inflight_watches_page(&track.inflight, BASE, SC_TOUCH_READ)));
    ck_assert(LOCKED(&track, sc_inflight_watches_page(&track.inflight, BASE, SC_TOUCH_WRITE)));
}
END_TEST

START_TEST(what_is_issued_again_is_watched_again)
{
    issue_guarded(SC_D2H, BASE);
    sc_track_note_complete(&track, one, 1);
    issue_guarded(SC_D2H, BASE);
    ck_assert(LOCKED(&track, sc_inflight_watches_page(&track.inflight, BASE, SC_TOUCH_READ)));
    LOCKED(&track, sc_guarded_find_touched(&track.inflight, BASE, 8, SC_TOUCH_READ, &ops));
    ck_assert_uint_eq(ops.count, 1);
}
END_TEST

static unsigned beside(uintptr_t address, enum sc_touch touch, const struct sc_ticket *awaited)
{
    LOCKED(&track, sc_guarded_note_awaited(&track.inflight, awaited));
    LOCKED(&track, sc_guarded_find_beside_touch(&track.inflight, address, 1, touch, &ops));
    return ops.count;
}

START_TEST(who_has_waited_for_one_result_meets_the_incomplete_ones_of_its_page)
{
    issue_guarded(SC_D2H, BASE);
    issue_guarded(SC_D2H, BASE + 64);
    issue_guarded(SC_D2H, BASE + 128);
    issue_guarded(SC_D2H, BASE + page_bytes);
    issue_guarded(SC_H2D, BASE + 256);
    const struct sc_ticket first = {one, 0, 1, 0};
    sc_track_note_complete(&track, one, 2);
    ck_assert_uint_eq(beside(BASE + 8, SC_TOUCH_READ, &first), 1);
    ck_assert_uint_eq(ops.ops[0].shape.address, BASE + 128);
    ck_assert_uint_eq(beside(BASE + 8, SC_TOUCH_WRITE, &first), 2);
    ck_assert_uint_eq(beside(BASE + 200, SC_TOUCH_READ, &first), 0);
    ck_assert_uint_eq(beside(BASE + 256, SC_TOUCH_READ, &first), 0);
    LOCKED(&track, sc_guarded_unprotect(&track.inflight, BASE, 8, SC_TOUCH_WRITE, true,
                                        SC_NO_VERDICT_NEIGHBOURS));
    ck_assert_uint_eq(beside(BASE + 8, SC_TOUCH_READ, &first), 0);
}
END_TEST

START_TEST(who_has_synchronised_since_meets_nothing_beside)
{
    issue_guarded(SC_D2H, BASE);
    const struct sc_ticket first = {one, 0, 1, 0};
    synchronise(one, SC_SCOPE_STREAM);
    issue_guarded(SC_D2H, BASE);
    issue_guarded(SC_D2H, BASE + 64);
    ck_assert_uint_eq(beside(BASE + 8, SC_TOUCH_READ, &first), 0);
}
END_TEST

START_TEST(of_the_complete_only_the_latest_stay_protected)
{
    for (uintptr_t i = 0; i <= SC_RELEASED_MAX; i++) {
        issue_guarded(SC_D2H, BASE + i * page_bytes);
        sc_track_note_complete(&track, one, i + 1);
        ck_assert_int_eq(
            LOCKED(&track, sc_spans_access(&track.inflight.guards, BASE + i * page_bytes)),
            SC_ACCESS_NONE);
    }
    ck_assert_int_eq(LOCKED(&track, sc_spans_access(&track.inflight.guards, BASE)), SC_ACCESS_ALL);
    ck_assert_int_eq(LOCKED(&track, sc_spans_access(&track.inflight.guards, BASE + page_bytes)),
                     SC_ACCESS_NONE);
}
END_TEST

START_TEST(memory_that_is_forbidden_stays_so)
{
    sc_track_add_range(&track, BASE, page_bytes, SC_PINNED, legacy, 0);
    LOCKED(&track, sc_guarded_set(&track.inflight, BASE, page_bytes, SC_GUARDING_FORBIDDEN));
    LOCKED(&track, sc_guarded_set(&track.inflight, BASE, page_bytes, SC_GUARDING_ALLOWED));
    ck_assert_int_eq(sc_track_find_range(&track, BASE).guarding, SC_GUARDING_FORBIDDEN);
}
END_TEST

/* What is said of pages, of each size that a kernel may have. */
static void add_guarded(Suite *suite, const char *name, SFun set_up_such_pages)
{
    TCase *group = tcase_create(name);
    tcase_add_checked_fixture(group, set_up_such_pages, tear_down);
    tcase_add_test(group, what_is_let_go_for_other_bytes_is_not_watched);
    if (kernel_peeks()) {
        tcase_add_test(group, a_source_that_is_compared_instead_is_watched);
        tcase_add_test(group, what_is_let_go_between_rows_is_compared_or_counted);
    }
    tcase_add_test(group, guards_that_are_given_up_are_counted_and_gone);
    tcase_add_test(group, what_is_complete_stays_protected_and_may_be_touched);
    tcase_add_test(group, a_source_is_watched_for_writes_alone);
    tcase_add_test(group, what_is_issued_again_is_watched_again);
    tcase_add_test(group, who_has_waited_for_one_result_meets_the_incomplete_ones_of_its_page);
    tcase_add_test(group, who_has_synchronised_since_meets_nothing_beside);
    tcase_add_test(group, of_the_complete_only_the_latest_stay_protected);
    tcase_add_test(group, memory_that_is_forbidden_stays_so);
    suite_add_tcase(suite, group);
}

int main(void)
{
    Suite *suite = suite_create("track");
    TCase *group = tcase_create("track");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_set_timeout(group, 120);
    tcase_add_test(group, a_wait_that_is_left_ends_unless_it_is_taken);
    tcase_add_test(group, streams_keep_the_handle_and_the_device);
    tcase_add_test(group, each_scope_waits_for_its_own);
    tcase_add_test(group, a_point_covers_what_was_there_when_it_was_taken);
    tcase_add_test(group, an_event_means_what_it_was_last_recorded_for);
    tcase_add_test(group, a_wait_keeps_what_the_event_meant_then);
    tcase_add_test(group, an_event_that_is_not_known_orders_nothing);
    tcase_add_test(group, records_are_work);
    tcase_add_test(group, a_wait_is_work_on_legacy_only);
    tcase_add_test(group, other_work_joins_legacy_and_is_joined);
    tcase_add_test(group, events_that_are_recorded_again_take_no_more_memory);
    tcase_add_test(group, an_inserted_edge_ends_the_conflict);
    tcase_add_test(group, conflicts_at_issue_are_those_before_it);
    tcase_add_test(group, a_call_meets_what_it_does_not_come_after);
    tcase_add_test(group, a_call_need_not_wait_for_what_is_complete_or_has_a_snapshot);
    tcase_add_test(group, what_waits_for_the_host_unseen_conflicts_with_nothing);
    tcase_add_test(group, an_event_has_news_until_the_host_has_waited);
    tcase_add_test(group, an_event_of_a_blocking_stream_has_the_news_of_the_legacy_one);
    tcase_add_test(group, an_event_has_the_news_of_streams_that_its_stream_waited_for);
    tcase_add_test(group, ranges_come_and_go);
    tcase_add_test(group, a_range_says_what_could_be_in_conflict);
    tcase_add_test(group, a_range_is_of_one_stream_again_when_it_was_idle);
    tcase_add_test(group, a_range_says_whether_it_has_sources);
    tcase_add_test(group, pinned_ranges_that_share_pages_have_their_neighbours_sources);
    tcase_add_test(group, the_ranges_of_a_context_go_with_it);
    tcase_add_test(group, with_nothing_in_flight_nothing_is_held);
    tcase_add_test(group, without_a_hold_the_operations_are_only_named);
    tcase_add_test(group, a_held_free_is_released_when_its_operations_are_complete);
    tcase_add_test(group, a_release_can_be_put_back);
    tcase_add_test(group, a_hold_lives_until_it_ends_whoever_comes_after);
    tcase_add_test(group, a_free_of_what_is_held_is_held_behind_it);
    tcase_add_test(group, what_goes_back_is_not_tracked_any_more);
    tcase_add_test(group, what_uses_freed_memory_has_to_come_after_what_was_in_flight);
    tcase_add_test(group, past_max_held_nothing_changes_and_the_caller_waits);
    tcase_add_test(group, a_call_that_leaves_the_memory_waits_for_what_it_hurts);
    tcase_add_test(group, operations_ranges_and_holds_are_met);
    tcase_add_test(group, a_hold_that_cannot_name_all_streams_is_not_made);
    tcase_add_test(group, each_awaited_stream_is_named_once_by_its_latest_operation);
    tcase_add_test(group, any_number_of_operations_is_taken_down);
    tcase_add_test(group, what_the_driver_has_back_is_no_range_any_more);
    tcase_add_test(group, libc_is_watched_while_heap_memory_is_in_flight_or_held);
    tcase_add_test(group, complete_is_not_known);
    tcase_add_test(group, a_hundred_thousand_operations_retire);
    tcase_add_test(group, threads_share_the_tracker);
    suite_add_tcase(suite, group);
    add_guarded(suite, "pages of 4 KB", set_up);
    add_guarded(suite, "pages of 16 KB", set_up_16k);
    add_guarded(suite, "pages of 64 KB", set_up_64k);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
