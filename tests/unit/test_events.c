/* What events stand for, and who may say so without the tracker's lock. */
#include "common/brief_lock.h"
#include "common/points.h"
#include "tests/unit/destroy.h"
#include "track/events.h"
#include "track/guarded.h"
#include "track/order.h"
#include "track/order_calls.h"
#include "track/track.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tests/unit/rounds.h"
#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_internal.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/tracker.h"

enum { EVENT = 0xe000, OTHER = 0xf000 };

static struct sc_track track;
static struct sc_events *const events = &track.events;
static uint32_t legacy, joined, plain;

static void set_up(void)
{
    ck_assert_int_eq(sc_track_init(&track), 0);
    sc_track_guard(&track, NULL);
    legacy = sc_track_add_stream(&track, SC_STREAM_LEGACY, 0, 1, 0);
    joined = sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 2, 0);
    plain = sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 3, 0);
}

static void tear_down(void)
{
    destroy_track(&track);
}

static struct sc_point numbered(uint64_t number)
{
    return (struct sc_point){.stream = plain, .number = number};
}

/* The stream has waited for another one: its points have a clock. */
static struct sc_point with_clock(void)
{
    struct sc_ticket ticket = sc_order_issue(&track.order, plain);
    struct sc_point point = numbered(ticket.number);
    ck_assert(sc_order_note_wait(&track.order, joined, &point));
    point = sc_order_point(&track.order, joined);
    ck_assert_ptr_nonnull(point.joined);
    return point;
}

static void set(uintptr_t event, struct sc_point point)
{
    sc_events_set(events, &track.order, event, &point);
}

static uint64_t number_of(uintptr_t event)
{
    struct sc_point point;
    ck_assert(sc_events_plain_point(events, event, &point));
    return point.number;
}

START_TEST(an_event_is_unknown_until_it_is_set)
{
    struct sc_point point = numbered(7);
    ck_assert(!sc_events_point(events, EVENT, &point));
    ck_assert_uint_eq(point.stream, 0);
    point = numbered(7);
    ck_assert(!sc_events_set_plain(events, EVENT, &point));
    ck_assert_uint_eq(number_of(EVENT), 0);
    set(EVENT, numbered(7));
    ck_assert(sc_events_point(events, EVENT, &point));
    ck_assert_uint_eq(number_of(EVENT), 7);
    ck_assert_uint_eq(number_of(OTHER), 0);
}
END_TEST

START_TEST(a_plain_point_follows_a_plain_one)
{
    struct sc_point point = numbered(8);
    set(EVENT, numbered(7));
    ck_assert(sc_events_set_plain(events, EVENT, &point));
    ck_assert_uint_eq(number_of(EVENT), 8);
}
END_TEST

START_TEST(a_clock_needs_the_trackers_lock)
{
    struct sc_point point = with_clock();
    set(EVENT, numbered(7));
    ck_assert(!sc_events_set_plain(events, EVENT, &point));
    ck_assert_uint_eq(number_of(EVENT), 7);
    set(EVENT, point);
    struct sc_point later = numbered(8);
    ck_assert(!sc_events_set_plain(events, EVENT, &later));
    ck_assert(!sc_events_plain_point(events, EVENT, &later));
    ck_assert(sc_events_point(events, EVENT, &later));
    ck_assert_ptr_eq(later.joined, point.joined);
    set(EVENT, numbered(9));
    ck_assert_uint_eq(number_of(EVENT), 9);
}
END_TEST

static struct sc_point record_begins(struct sc_order_call *call)
{
    struct sc_point point;
    sc_track_begin_record(&track, joined, call, &point);
    sc_track_end_record(&track, call, true);
    return point;
}

/* Whichever the driver takes last, it comes after what the other thread had issued before. */
START_TEST(of_two_threads_that_record_at_once_the_later_point_stays)
{
    for (int round = 0; round < 2; round++) { /* the second one with clocks */
        struct sc_order_call call;
        struct sc_point early = record_begins(&call);
        uint64_t number = sc_order_issue(&track.order, joined).number;
        struct sc_point late = record_begins(&call);
        sc_track_set_event(&track, EVENT, &late);
        sc_track_set_event(&track, EVENT, &early);
        struct sc_point point = sc_track_event_point(&track, EVENT);
        ck_assert_uint_eq(point.number, number);
        ck_assert_int_eq(point.joined != NULL, round);
        sc_track_release_point(&track, &point);
        point = with_clock();
        sc_track_release_point(&track, &point);
    }
}
END_TEST

/* Between the two the stream has waited for something, and nothing was issued on it. */
START_TEST(of_two_threads_that_record_at_once_no_wait_is_lost)
{
    struct sc_order_call call;
    struct sc_point early = record_begins(&call);
    struct sc_point waited = with_clock();
    sc_track_release_point(&track, &waited);
    struct sc_point late = record_begins(&call);
    struct sc_ticket ticket = {.stream = plain, .number = 1};
    ck_assert(sc_order_point_covers(&late, &ticket));
    sc_track_set_event(&track, EVENT, &late);
    sc_track_set_event(&track, EVENT, &early);
    struct sc_point point = sc_track_event_point(&track, EVENT);
    ck_assert(sc_order_point_covers(&point, &ticket));
    sc_track_release_point(&track, &point);
}
END_TEST

START_TEST(what_a_stream_that_is_gone_had_waited_for_is_not_its_successors)
{
    struct sc_order_call call;
    struct sc_point waited = with_clock();
    sc_track_release_point(&track, &waited);
    struct sc_point point = record_begins(&call);
    sc_track_set_event(&track, EVENT, &point);
    sc_order_remove(&track.order, joined);
    ck_assert_uint_eq(sc_order_add(&track.order, SC_STREAM_NONBLOCKING, legacy), joined);
    point = record_begins(&call);
    sc_track_set_event(&track, EVENT, &point);
    point = sc_track_event_point(&track, EVENT);
    ck_assert(!sc_order_point_covers(&point, &(struct sc_ticket){.stream = plain, .number = 1}));
    sc_track_release_point(&track, &point);
}
END_TEST

START_TEST(a_record_on_another_stream_replaces_a_larger_number)
{
    set(EVENT, (struct sc_point){.stream = joined, .number = 70});
    struct sc_point point = numbered(7);
    ck_assert(sc_events_set_plain(events, EVENT, &point));
    ck_assert_uint_eq(number_of(EVENT), 7);
    set(EVENT, (struct sc_point){.stream = joined, .number = 6});
    ck_assert_uint_eq(number_of(EVENT), 6);
}
END_TEST

static bool set_simply(uintptr_t event, uint64_t number)
{
    return sc_events_set_simple(events, event, plain, number, 5);
}

START_TEST(a_number_is_set_where_the_event_stood_for_one)
{
    ck_assert(!set_simply(EVENT, 7));
    set(EVENT, numbered(3));
    ck_assert(set_simply(EVENT, 7));
    ck_assert_uint_eq(number_of(EVENT), 7);
    ck_assert(set_simply(EVENT, 6)); /* by a thread that was slower */
    ck_assert_uint_eq(number_of(EVENT), 7);
    sc_events_forget(events, &track.order, EVENT);
    ck_assert(!set_simply(EVENT, 8));
    set(OTHER, numbered(4)); /* in the record of the one that went */
    ck_assert(!set_simply(EVENT, 8));
    ck_assert_uint_eq(number_of(OTHER), 4);
}
END_TEST

static uint64_t work_of(uintptr_t event)
{
    struct sc_point point;
    ck_assert(sc_events_plain_point(events, event, &point));
    return point.work_ticks;
}

/* Threads record one event at the same time, and one of them has issued a kernel just before. */
START_TEST(the_later_work_is_before_the_event_whoever_comes_last)
{
    struct sc_point early = {.stream = plain, .number = 3, .work_ticks = 5};
    struct sc_point late = {.stream = plain, .number = 3, .work_ticks = 9};
    set(EVENT, late);
    ck_assert(sc_events_set_simple(events, EVENT, plain, 3, 5));
    ck_assert_uint_eq(work_of(EVENT), 9);
    ck_assert(sc_events_set_simple(events, EVENT, plain, 2, 10));
    ck_assert_uint_eq(work_of(EVENT), 10);
    ck_assert_uint_eq(number_of(EVENT), 3);
    ck_assert(sc_events_set_plain(events, EVENT, &early));
    ck_assert_uint_eq(work_of(EVENT), 10);
    set(EVENT, early);
    ck_assert_uint_eq(work_of(EVENT), 10);
    ck_assert(sc_events_set_simple(events, EVENT, joined, 1, 4));
    ck_assert_uint_eq(work_of(EVENT), 4);
}
END_TEST

/* A node of a graph, or a launch, records the event: no time says when the work before it ends. */
START_TEST(work_that_is_unknown_is_not_the_former_records)
{
    struct sc_point unknown = {.stream = plain, .number = 4};
    set(EVENT, (struct sc_point){.stream = plain, .number = 3, .work_ticks = 5});
    set(EVENT, unknown);
    ck_assert_uint_eq(work_of(EVENT), 0);
    ck_assert(sc_events_set_simple(events, EVENT, plain, 5, 6));
    ck_assert_uint_eq(work_of(EVENT), 6);
    unknown.number = 6;
    ck_assert(sc_events_set_plain(events, EVENT, &unknown));
    ck_assert_uint_eq(work_of(EVENT), 0);
    ck_assert_uint_eq(number_of(EVENT), 6);
}
END_TEST

static void expect_wide(struct sc_point point)
{
    struct sc_point now;
    set(EVENT, numbered(1));
    ck_assert(set_simply(EVENT, 2));
    set(EVENT, point);
    ck_assert(!set_simply(EVENT, 9));
    ck_assert(sc_events_point(events, EVENT, &now));
    ck_assert_uint_eq(now.number, point.number);
    set(EVENT, numbered(10));
    ck_assert(set_simply(EVENT, 11));
}

START_TEST(a_number_does_not_replace_what_has_more_to_it)
{
    expect_wide(with_clock());
    expect_wide((struct sc_point){.stream = legacy, .number = 2, .call = 1});
    expect_wide((struct sc_point){.stream = joined, .number = 3, .legacy = legacy});
    struct sc_point blocking = {.stream = joined, .number = 3, .legacy = legacy, .call = 2};
    set(OTHER, numbered(1));
    ck_assert(sc_events_set_plain(events, OTHER, &blocking));
    ck_assert(!set_simply(OTHER, 9));
}
END_TEST

/* Who asks for a number alone gets none where that is not all, or the operations are unknown. */
START_TEST(a_wait_is_simple_for_a_number_that_the_host_knows_to_be_done)
{
    struct sc_event_number number = {0};
    ck_assert(!sc_track_known_event(&track, EVENT, &number)); /* never recorded */
    set(EVENT, (struct sc_point){0});
    ck_assert(!sc_track_known_event(&track, EVENT, &number)); /* stands for nothing */
    uint64_t issued = sc_order_issue(&track.order, plain).number;
    set(EVENT, (struct sc_point){.stream = plain, .number = issued, .work_ticks = 5});
    ck_assert(sc_events_get_simple(events, EVENT, &number));
    ck_assert_uint_eq(number.stream, plain);
    ck_assert_uint_eq(number.number, issued);
    ck_assert_uint_eq(number.work_ticks, 5);
    ck_assert(!sc_track_known_event(&track, EVENT, &number)); /* in flight */
    struct sc_point point = sc_order_point(&track.order, plain);
    sc_order_note_known(&track.order, &point);
    ck_assert(sc_track_known_event(&track, EVENT, &number));
    set(OTHER, numbered(issued + 1));
    ck_assert(!sc_track_known_event(&track, OTHER, &number));
    set(OTHER, with_clock());
    ck_assert(!sc_events_get_simple(events, OTHER, &number));
    set(OTHER, (struct sc_point){.stream = plain, .number = issued, .call = 1});
    ck_assert(!sc_events_get_simple(events, OTHER, &number));
    set(OTHER, (struct sc_point){.stream = plain, .number = issued, .legacy = legacy});
    ck_assert(!sc_events_get_simple(events, OTHER, &number));
    sc_events_forget(events, &track.order, EVENT);
    ck_assert(!sc_track_known_event(&track, EVENT, &number));
    sc_events_forget(events, &track.order, OTHER);
}
END_TEST

START_TEST(an_event_that_is_forgotten_is_unknown)
{
    set(EVENT, with_clock());
    set(OTHER, numbered(3));
    sc_events_forget(events, &track.order, EVENT);
    ck_assert_uint_eq(number_of(EVENT), 0);
    sc_events_forget(events, &track.order, EVENT);
    set(EVENT + 1, numbered(4)); /* in the record of the one that went */
    ck_assert_uint_eq(number_of(EVENT), 0);
    ck_assert_uint_eq(number_of(EVENT + 1), 4);
    ck_assert_uint_eq(number_of(OTHER), 3);
}
END_TEST

START_TEST(many_events_come_and_go)
{
    for (int round = 0; round < 3; round++) {
        for (uintptr_t i = 0; i < 30000; i++)
            set(EVENT + i, numbered(i + 1));
        for (uintptr_t i = 0; i < 30000; i++)
            if (number_of(EVENT + i) != i + 1)
                ck_abort_msg("event %lu stands for another point", i);
        for (uintptr_t i = 0; i < 30000; i++)
            sc_events_forget(events, &track.order, EVENT + i);
    }
    ck_assert_uint_eq(events->records.live, 0);
}
END_TEST

/* The test would wait for itself where one of these takes the lock. */
START_TEST(plain_events_are_recorded_and_waited_for_beside_the_trackers_lock)
{
    struct sc_order_call call;
    struct sc_behind behind;
    struct sc_wait wait;
    struct sc_point point;
    sc_track_begin_record(&track, plain, &call, &point);
    sc_track_end_record(&track, &call, true);
    sc_track_set_event(&track, EVENT, &point);

    sc_brief_lock_acquire(&track.lock);
    sc_track_begin_record(&track, plain, &call, &point);
    sc_track_end_record(&track, &call, true);
    sc_track_set_event(&track, EVENT, &point);
    ck_assert_uint_eq(sc_track_event_point(&track, EVENT).stream, plain);
    sc_track_event_work(&track, EVENT, &point, &behind);
    ck_assert_uint_eq(behind.stream, plain);
    sc_track_begin_wait(&track, joined, EVENT, &wait); /* nothing was ever issued there */
    sc_track_end_wait(&track, &wait, true);
    sc_track_begin_wait(&track, joined, OTHER, &wait);
    sc_track_end_wait(&track, &wait, true);
    sc_brief_lock_release(&track.lock);
}
END_TEST

/* ---- threads ---- */

enum { WRITERS = 3, READERS = 2, ROUNDS = 40000 };

static _Atomic bool stop;

/* Whatever a writer stores has equal numbers, so that half of a point shows. */
static struct sc_point even(uint64_t number)
{
    return (struct sc_point){
        .stream = plain, .number = number, .legacy_number = number, .work_ticks = number};
}

static void *write_points(void *argument)
{
    uint64_t own = (uintptr_t)argument;
    for (unsigned i = 1; i <= rounds(ROUNDS); i++) {
        struct sc_point point = even(i * WRITERS + own);
        if (i % 64 == 0) {
            sc_brief_lock_acquire(&track.lock);
            if (i % 128)
                sc_events_forget(events, &track.order, EVENT);
            else
                set(EVENT, with_clock());
            sc_brief_lock_release(&track.lock);
        } else {
            sc_track_set_event(&track, EVENT, &point);
        }
    }
    return NULL;
}

static void *read_points(void *wrong)
{
    while (!atomic_load(&stop)) {
        struct sc_point point = sc_track_event_point(&track, EVENT);
        if (!point.joined &&
            (point.number != point.legacy_number || point.number != point.work_ticks))
            return wrong;
        sc_track_release_point(&track, &point);
    }
    return NULL;
}

START_TEST(a_point_is_read_whole_whoever_stores_another_meanwhile)
{
    pthread_t writers[WRITERS];
    pthread_t readers[READERS];
    void *wrong;
    atomic_store(&stop, false);
    sc_track_set_event(&track, EVENT, &(struct sc_point){0});
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_create(&readers[i], NULL, read_points, &track), 0);
    for (uintptr_t i = 0; i < WRITERS; i++)
        ck_assert_int_eq(pthread_create(&writers[i], NULL, write_points, (void *)i), 0);
    for (int i = 0; i < WRITERS; i++)
        ck_assert_int_eq(pthread_join(writers[i], NULL), 0);
    atomic_store(&stop, true);
    for (int i = 0; i < READERS; i++) {
        ck_assert_int_eq(pthread_join(readers[i], &wrong), 0);
        ck_assert_ptr_null(wrong);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("events");
    TCase *group = tcase_create("events");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_set_timeout(group, 60);
    tcase_add_test(group, an_event_is_unknown_until_it_is_set);
    tcase_add_test(group, a_plain_point_follows_a_plain_one);
    tcase_add_test(group, a_clock_needs_the_trackers_lock);
    tcase_add_test(group, of_two_threads_that_record_at_once_the_later_point_stays);
    tcase_add_test(group, of_two_threads_that_record_at_once_no_wait_is_lost);
    tcase_add_test(group, what_a_stream_that_is_gone_had_waited_for_is_not_its_successors);
    tcase_add_test(group, a_record_on_another_stream_replaces_a_larger_number);
    tcase_add_test(group, a_number_is_set_where_the_event_stood_for_one);
    tcase_add_test(group, the_later_work_is_before_the_event_whoever_comes_last);
    tcase_add_test(group, work_that_is_unknown_is_not_the_former_records);
    tcase_add_test(group, a_number_does_not_replace_what_has_more_to_it);
    tcase_add_test(group, a_wait_is_simple_for_a_number_that_the_host_knows_to_be_done);
    tcase_add_test(group, an_event_that_is_forgotten_is_unknown);
    tcase_add_test(group, many_events_come_and_go);
    tcase_add_test(group, plain_events_are_recorded_and_waited_for_beside_the_trackers_lock);
    tcase_add_test(group, a_point_is_read_whole_whoever_stores_another_meanwhile);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
