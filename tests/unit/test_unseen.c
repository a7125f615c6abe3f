/* Waits for the host that are not seen: what stands behind one, and until when. */
#include "common/pages.h"
#include "common/points.h"
#include "tests/unit/destroy.h"
#include "tests/unit/locked.h"
#include "track/guarded.h"
#include "track/inflight.h"
#include "track/inflight_calls.h"
#include "track/op_info.h"
#include "track/order.h"
#include "track/order_calls.h"
#include "track/track.h"
#include "track/track_internal.h"
#include "track/unseen.h"

#include <check.h>
#include <stdlib.h>

#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/tracker.h"

enum { BUFFER = 0x100000, BYTES = 64 << 10 };

static struct sc_track track;
static uint32_t legacy, blocking, other_blocking, one, two;

static uint32_t add(enum sc_stream_kind kind)
{
    static uintptr_t handle = 1;
    return sc_track_add_stream(&track, kind, legacy, ++handle, 0);
}

static void set_up(void)
{
    ck_assert_int_eq(sc_track_init(&track), 0);
    sc_track_guard(&track, NULL);
    legacy = sc_track_add_stream(&track, SC_STREAM_LEGACY, 0, 1, 0);
    blocking = add(SC_STREAM_BLOCKING);
    other_blocking = add(SC_STREAM_BLOCKING);
    one = add(SC_STREAM_NONBLOCKING);
    two = add(SC_STREAM_NONBLOCKING);
    sc_track_add_range(&track, BUFFER, BYTES, SC_PINNED, legacy, 0);
}

static void tear_down(void)
{
    destroy_track(&track);
}

static void await_host(uint32_t stream)
{
    struct sc_order_call call;
    sc_track_begin_call(&track, stream, &call);
    struct sc_ticket from = LOCKED(&track, sc_unseen_begin(&track.order, stream));
    sc_track_end_call(&track, &call, true);
    LOCKED(&track, sc_unseen_end(&track.order, &from));
}

static struct sc_point record(uint32_t stream)
{
    struct sc_order_call call;
    struct sc_point point;
    sc_track_begin_record(&track, stream, &call, &point);
    sc_track_end_record(&track, &call, true);
    return point;
}

static void wait(uint32_t stream, const struct sc_point *point)
{
    sc_order_note_wait(&track.order, stream, point);
}

static void know(struct sc_point point)
{
    sc_track_note_known(&track, &point, NULL, NULL);
}

static void synchronise(uint32_t stream)
{
    know(sc_track_sync_point(&track, stream, SC_SCOPE_STREAM));
}

static bool is_seen(uint32_t stream)
{
    return sc_track_find_unseen_before(&track, stream, NULL).waits == 0;
}

static struct sc_op_info upload(uint32_t stream)
{
    return (struct sc_op_info){.api = "copy",
                               .shape = {BUFFER, BYTES, BYTES, 1},
                               .ticket.stream = stream,
                               .direction = SC_H2D,
                               .kind = SC_PINNED,
                               .range = sc_track_find_range(&track, BUFFER).range,
                               .unseen_waits = sc_track_find_unseen_before(&track, stream, NULL)};
}

static unsigned issue(struct sc_op_info info)
{
    SC_ISSUED(issued);
    sc_track_issue(&track, &(struct sc_order_call){0}, &info, 1, &issued);
    return issued.conflicts.count;
}

START_TEST(nothing_is_behind_a_wait_that_never_was)
{
    ck_assert(sc_unseen_none_is_open(&track.order.unseen));
    ck_assert(is_seen(one) && is_seen(blocking) && is_seen(legacy));
}
END_TEST

START_TEST(the_stream_itself_is_behind_its_wait_until_the_host_has_waited)
{
    await_host(one);
    ck_assert(!is_seen(one));
    ck_assert(is_seen(two));
    synchronise(two);
    ck_assert(!is_seen(one));
    synchronise(one);
    ck_assert(is_seen(one));
    ck_assert(sc_unseen_none_is_open(&track.order.unseen));
}
END_TEST

START_TEST(a_refused_call_is_no_wait)
{
    LOCKED(&track, sc_unseen_begin(&track.order, one));
    ck_assert(is_seen(one));
}
END_TEST

START_TEST(a_stream_behind_an_event_is_seen_when_the_host_has_waited_for_the_other_one)
{
    await_host(one);
    struct sc_point event = record(one);
    wait(two, &event);
    ck_assert(!is_seen(two));
    synchronise(one);
    ck_assert(is_seen(two));
}
END_TEST

START_TEST(a_stream_behind_an_event_is_seen_when_the_host_has_waited_for_the_event)
{
    await_host(one);
    struct sc_point event = record(one);
    wait(two, &event);
    await_host(one); /* nothing on the other stream is behind this one */
    know(event);
    ck_assert(is_seen(two));
    ck_assert(!is_seen(one));
}
END_TEST

START_TEST(an_event_before_the_wait_brings_nothing)
{
    issue(upload(one));
    struct sc_point event = record(one);
    await_host(one);
    wait(two, &event);
    ck_assert(is_seen(two));
    sc_track_release_point(&track, &event);
}
END_TEST

START_TEST(of_two_waits_the_later_one_counts_where_it_comes_before)
{
    await_host(one);
    struct sc_point first = record(one);
    await_host(one);
    struct sc_point second = record(one);
    wait(two, &second);
    wait(blocking, &first);
    know(first);
    ck_assert(is_seen(blocking));
    ck_assert(!is_seen(two));
    know(second);
    ck_assert(is_seen(two));
}
END_TEST

START_TEST(an_event_within_the_call_may_stand_for_the_wait)
{
    struct sc_ticket from = LOCKED(&track, sc_unseen_begin(&track.order, one));
    struct sc_point event = record(one);
    LOCKED(&track, sc_unseen_end(&track.order, &from));
    wait(two, &event);
    ck_assert(!is_seen(two));
    know(event); /* the wait is over, or the event does not stand for it */
    ck_assert(is_seen(two));
    ck_assert(!is_seen(one));
}
END_TEST

START_TEST(the_legacy_stream_hands_it_on)
{
    await_host(blocking);
    ck_assert(is_seen(other_blocking));
    ck_assert(!is_seen(legacy));
    LOCKED(&track, sc_order_note_work(&track.order, legacy));
    ck_assert(!is_seen(other_blocking));
    synchronise(blocking);
    ck_assert(is_seen(other_blocking));
    ck_assert(is_seen(legacy));
}
END_TEST

START_TEST(legacy_work_before_the_wait_hands_nothing_on)
{
    LOCKED(&track, sc_order_note_work(&track.order, legacy));
    await_host(blocking);
    ck_assert(is_seen(other_blocking));
}
END_TEST

START_TEST(all_streams_of_a_context_that_waits_are_behind_it)
{
    await_host(one);
    struct sc_point event = record(one);
    struct sc_point again = sc_order_copy_point(&event);
    LOCKED(&track, sc_order_note_context_wait(&track.order, legacy, &event));
    sc_track_release_point(&track, &event);
    uint32_t fresh = add(SC_STREAM_NONBLOCKING);
    ck_assert(!is_seen(two) && !is_seen(blocking) && !is_seen(fresh));
    know(again);
    ck_assert(is_seen(two) && is_seen(blocking) && is_seen(fresh));
}
END_TEST

START_TEST(a_point_beside_the_stream_counts)
{
    await_host(one);
    struct sc_point event = record(one);
    ck_assert(sc_track_find_unseen_before(&track, two, &event).waits != 0);
    synchronise(one);
    ck_assert(sc_track_find_unseen_before(&track, two, &event).waits == 0);
    sc_track_release_point(&track, &event);
}
END_TEST

START_TEST(many_waits_of_a_stream_are_over_when_the_last_one_is)
{
    struct sc_point events[3 * SC_UNSEEN_OF_STREAM_MAX];
    const unsigned count = sizeof events / sizeof *events;
    for (unsigned i = 0; i < count; i++) {
        await_host(one);
        events[i] = record(one);
    }
    ck_assert_uint_eq(track.order.unseen.open, SC_UNSEEN_OF_STREAM_MAX);
    wait(two, &events[count - 1]);
    for (unsigned i = 0; i < count - 1; i++)
        know(events[i]);
    ck_assert(!is_seen(two));
    know(events[count - 1]);
    ck_assert(is_seen(two));
}
END_TEST

START_TEST(where_too_many_are_open_nothing_is_seen)
{
    uint32_t streams[SC_UNSEEN_LOOKED_AT_MAX + 1];
    for (unsigned i = 0; i <= SC_UNSEEN_LOOKED_AT_MAX; i++) {
        ck_assert(is_seen(two));
        streams[i] = add(SC_STREAM_NONBLOCKING);
        await_host(streams[i]);
    }
    ck_assert(!is_seen(two));
    synchronise(streams[7]);
    ck_assert(is_seen(two));
}
END_TEST

START_TEST(a_stream_that_is_gone_keeps_its_wait)
{
    await_host(one);
    struct sc_point event = record(one);
    wait(two, &event);
    sc_track_remove_stream(&track, one);
    uint32_t fresh = add(SC_STREAM_NONBLOCKING);
    ck_assert_uint_ne(fresh, one);
    synchronise(fresh);
    ck_assert(!is_seen(two));
    synchronise(two);
    ck_assert(is_seen(two));
    ck_assert_uint_eq(add(SC_STREAM_NONBLOCKING), one);
    sc_track_release_point(&track, &event);
}
END_TEST

START_TEST(an_operation_is_unseen_until_the_waits_before_it_are_over)
{
    await_host(one);
    struct sc_point event = record(one);
    wait(two, &event);
    struct sc_op_info behind = upload(two);
    ck_assert(sc_ops_unsure(&track.order, &behind));
    await_host(two);
    ck_assert(sc_ops_unsure(&track.order, &behind));
    synchronise(one);
    ck_assert(!sc_ops_unsure(&track.order, &behind));
    ck_assert(!is_seen(two));
    sc_track_release_point(&track, &event);
}
END_TEST

/* The bits of waits come round. */
START_TEST(a_later_wait_is_not_taken_for_an_earlier_one)
{
    await_host(one);
    struct sc_op_info behind = upload(one);
    for (unsigned i = 0; i < SC_UNSEEN_BITS; i++) {
        synchronise(one);
        await_host(one);
    }
    ck_assert(!sc_ops_unsure(&track.order, &behind));
}
END_TEST

START_TEST(operations_conflict_when_the_wait_before_one_is_over)
{
    await_host(one);
    struct sc_point event = record(one);
    wait(two, &event);
    issue(upload(two));
    struct sc_op_info download = upload(blocking);
    download.direction = SC_D2H;
    ck_assert_uint_eq(issue(download), 0);
    synchronise(one);
    download.ticket.stream = other_blocking;
    ck_assert_uint_eq(issue(download), 2);
    sc_track_release_point(&track, &event);
}
END_TEST

static bool is_guarded(void)
{
    return sc_inflight_watches_page(&track.inflight, BUFFER + 8, SC_TOUCH_WRITE);
}

static struct sc_op_info guarded_upload(uint32_t stream)
{
    struct sc_op_info info = upload(stream);
    info.access = SC_ACCESS_READ;
    info.guard_address = BUFFER;
    info.guard_bytes = BYTES;
    return info;
}

START_TEST(an_operation_is_guarded_when_the_waits_before_it_are_over)
{
    await_host(one);
    struct sc_point event = record(one);
    wait(two, &event);
    await_host(two);
    issue(guarded_upload(two));
    ck_assert(!is_guarded());
    synchronise(one);
    ck_assert(!is_guarded());
    issue(guarded_upload(two)); /* anew, in place of the former one */
    ck_assert(!is_guarded());
    struct sc_point before = record(two);
    issue(guarded_upload(two));
    know(before);
    ck_assert(is_guarded());
    synchronise(two);
    ck_assert(!is_guarded());
    ck_assert_uint_eq(track.inflight.awaiting_guard, 0);
    sc_track_release_point(&track, &event);
}
END_TEST

START_TEST(what_is_complete_by_then_is_guarded_where_that_is_asked_for)
{
    for (int until_known = 0; until_known < 2; until_known++) {
        track.inflight.guard_until_known = until_known;
        await_host(one);
        struct sc_point before = record(one);
        issue(guarded_upload(one));
        sc_track_note_complete(&track, one, sc_order_issued(&track.order, one));
        know(before);
        ck_assert(is_guarded() == until_known);
        synchronise(one);
        ck_assert_uint_eq(track.inflight.awaiting_guard, 0);
    }
}
END_TEST

int main(void)
{
    TCase *group = tcase_create("unseen");
    Suite *suite = suite_create("unseen");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_test(group, nothing_is_behind_a_wait_that_never_was);
    tcase_add_test(group, the_stream_itself_is_behind_its_wait_until_the_host_has_waited);
    tcase_add_test(group, a_refused_call_is_no_wait);
    tcase_add_test(group,
                   a_stream_behind_an_event_is_seen_when_the_host_has_waited_for_the_other_one);
    tcase_add_test(group, a_stream_behind_an_event_is_seen_when_the_host_has_waited_for_the_event);
    tcase_add_test(group, an_event_before_the_wait_brings_nothing);
    tcase_add_test(group, of_two_waits_the_later_one_counts_where_it_comes_before);
    tcase_add_test(group, an_event_within_the_call_may_stand_for_the_wait);
    tcase_add_test(group, the_legacy_stream_hands_it_on);
    tcase_add_test(group, legacy_work_before_the_wait_hands_nothing_on);
    tcase_add_test(group, all_streams_of_a_context_that_waits_are_behind_it);
    tcase_add_test(group, a_point_beside_the_stream_counts);
    tcase_add_test(group, many_waits_of_a_stream_are_over_when_the_last_one_is);
    tcase_add_test(group, where_too_many_are_open_nothing_is_seen);
    tcase_add_test(group, a_stream_that_is_gone_keeps_its_wait);
    tcase_add_test(group, an_operation_is_unseen_until_the_waits_before_it_are_over);
    tcase_add_test(group, a_later_wait_is_not_taken_for_an_earlier_one);
    tcase_add_test(group, operations_conflict_when_the_wait_before_one_is_over);
    tcase_add_test(group, an_operation_is_guarded_when_the_waits_before_it_are_over);
    tcase_add_test(group, what_is_complete_by_then_is_guarded_where_that_is_asked_for);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
