/* Simple copies (track/track_copies.h): which copies they are, and that they are operations like
 * others. */
#include "common/op_kinds.h"
#include "common/pages.h"
#include "common/points.h"
#include "common/ticks.h"
#include "tests/unit/destroy.h"
#include "tests/unit/locked.h"
#include "track/comparisons.h"
#include "track/guarded.h"
#include "track/hold.h"
#include "track/inflight.h"
#include "track/inflight_calls.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/order.h"
#include "track/order_calls.h"
#include "track/spans.h"
#include "track/staging.h"
#include "track/track.h"
#include "track/track_copies.h"
#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/track_views.h"
#include "track/tracker.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* A large source is compared without the lock. */
enum { SMALL_BYTES = 256, LARGE_BYTES = 16 << 10, PIECES = 4, DEVICE = 0x7f0000 };
_Static_assert(LARGE_BYTES >= (int)SC_COMPARISONS_MIN_BYTES, "it is");

static _Alignas(4096) char pinned[LARGE_BYTES * PIECES];
static _Alignas(4096) char other[LARGE_BYTES];
static size_t bytes;
static struct sc_staging staging;
static char *memory;
static struct sc_slot *records;
static uint32_t one, two;

static void set_up(void)
{
    bytes = bytes ? bytes : SMALL_BYTES;
    sc_ticks_start();
    struct sc_staging_block block;
    ck_assert_int_eq(sc_track_init(&sc_track), 0);
    uint32_t legacy = sc_track_add_stream(&sc_track, SC_STREAM_LEGACY, 0, 1, 0);
    one = sc_track_add_stream(&sc_track, SC_STREAM_NONBLOCKING, legacy, 2, 0);
    two = sc_track_add_stream(&sc_track, SC_STREAM_NONBLOCKING, legacy, 3, 0);
    LOCKED(&sc_track, sc_staging_init(&staging, scope_.order, LARGE_BYTES));
    ck_assert(sc_staging_next_block(&staging, bytes, &block));
    memory = malloc(block.bytes);
    records = calloc(1, block.record_bytes);
    LOCKED(&sc_track, sc_staging_add(&staging, &block, memory, records));
    sc_track_add_range(&sc_track, (uintptr_t)pinned, bytes * PIECES, SC_PINNED, 1, 7);
    sc_track_add_range(&sc_track, (uintptr_t)other, sizeof other, SC_REGISTERED, 1, 8);
    memset(pinned, 1, sizeof pinned);
}

static void set_up_large(void)
{
    bytes = LARGE_BYTES;
    set_up();
}

static void tear_down(void)
{
    LOCKED(&sc_track, sc_staging_end(&staging));
    destroy_track(&sc_track);
    free(memory);
    free(records);
}

static struct sc_simple_copy upload_of(uint32_t stream, const char *source)
{
    return (struct sc_simple_copy){.stream = stream,
                                   .host = (uintptr_t)source,
                                   .device = DEVICE,
                                   .size_bytes = bytes,
                                   .api = "upload",
                                   .ticks = 5,
                                   .stack = 6,
                                   .thread = 7};
}

/* Any other operation, which leaves a slot with the stream where it is a copy to the device. */
static void issue(uint32_t stream, char *address, enum sc_direction direction)
{
    SC_ISSUED(issued);
    struct sc_order_call call = {0};
    struct sc_range_info range = sc_track_find_range(&sc_track, (uintptr_t)address);
    struct sc_op_info info = {.direction = direction,
                              .kind = range.kind,
                              .range = range.range,
                              .shape = {(uintptr_t)address, bytes, bytes, 1},
                              .ticket = {.stream = stream},
                              .access = SC_ACCESS_ALL};
    sc_track_issue(&sc_track, &call, &info, 1, &issued);
}

static void know(uint32_t stream, unsigned expected_overwritten)
{
    SC_OPS(overwritten);
    struct sc_point point = sc_track_sync_point(&sc_track, stream, SC_SCOPE_STREAM);
    sc_track_note_known(&sc_track, &point, NULL, &overwritten);
    ck_assert_uint_eq(overwritten.count, expected_overwritten);
}

/* The stream gets a slot, and the thread remembers the range. */
static void warm_up(uint32_t stream)
{
    struct sc_slot *slot = LOCKED(&sc_track, sc_staging_take(&staging, bytes));
    ck_assert_ptr_nonnull(slot);
    LOCKED(&sc_track, sc_staging_release_to_stream(slot, &(struct sc_ticket){.stream = stream}));
    ck_assert(sc_track_find_range(&sc_track, (uintptr_t)pinned).range != 0);
}

/* What comes another way is recorded as any other, with this guard. */
static uint64_t record(const struct sc_simple_copy *copy, const struct sc_pages *guard,
                       struct sc_issued *issued)
{
    struct sc_order_call call = {0};
    struct sc_op_info info;
    if (sc_track_issue_simple_copy(&sc_track, copy, &info, issued))
        return info.ticket.number;
    if (guard) {
        info.guard_address = guard->start;
        info.guard_bytes = guard->end - guard->start;
        info.access = SC_ACCESS_NONE;
    }
    sc_track_issue(&sc_track, &call, &info, 1, issued);
    return info.ticket.number;
}

static bool begin(struct sc_simple_copy *upload)
{
    bool begun = sc_track_begin_simple_copy(&sc_track, &staging, upload);
    if (begun && !upload->is_filled)
        memcpy(upload->slot->bytes, (const void *)upload->host, upload->size_bytes);
    return begun;
}

static bool is_one(uint32_t stream, const char *source)
{
    struct sc_simple_copy upload = upload_of(stream, source);
    bool begun = begin(&upload);
    if (begun)
        LOCKED(&sc_track,
               sc_staging_release_to_stream(upload.slot, &(struct sc_ticket){.stream = stream}));
    return begun;
}

static uint64_t make(uint32_t stream, const char *source, struct sc_issued *issued)
{
    struct sc_simple_copy upload = upload_of(stream, source);
    ck_assert(begin(&upload));
    return record(&upload, NULL, issued);
}

static void make_alone(uint32_t stream, const char *source)
{
    SC_ISSUED(issued);
    make(stream, source, &issued);
    ck_assert_uint_eq(issued.conflicts.count + issued.overwritten.count, 0);
}

START_TEST(an_upload_needs_a_slot_and_a_range)
{
    ck_assert(!is_one(one, pinned));
    warm_up(one);
    ck_assert(is_one(one, pinned));
    ck_assert(!is_one(two, pinned));
    ck_assert(is_one(one, pinned + (PIECES - 1) * bytes));
    ck_assert(!is_one(one, pinned + (PIECES - 1) * bytes + 1)); /* reaches beyond */
    ck_assert(!is_one(one, pinned - 1));
    ck_assert(!is_one(one, other)); /* registered */
    sc_track_add_range(&sc_track, (uintptr_t)pinned, bytes, SC_REGISTERED, 1, 0);
    ck_assert(!is_one(one, pinned)); /* it has replaced what was found */
    ck_assert(!is_one(one, pinned + bytes));
}
END_TEST

START_TEST(memory_that_is_registered_or_peeked_at_is_none)
{
    warm_up(one);
    ck_assert(sc_track_find_range(&sc_track, (uintptr_t)other).range != 0);
    ck_assert(!is_one(one, other));
    uint32_t range = sc_track_find_range(&sc_track, (uintptr_t)pinned).range;
    struct sc_range *record = sc_inflight_range(&sc_track.inflight, range);
    ck_assert(is_one(one, pinned));
    atomic_store(&record->snapshots, SC_SNAPSHOTS_PEEKED);
    ck_assert(!is_one(one, pinned));
}
END_TEST

START_TEST(what_is_written_on_the_range_or_on_none_is_looked_at)
{
    warm_up(one);
    issue(one, pinned + bytes, SC_D2H);
    ck_assert(!is_one(one, pinned));
    know(one, 0);
    ck_assert(is_one(one, pinned));
    issue(two, pinned, SC_H2D);
    ck_assert(is_one(one, pinned));
}
END_TEST

START_TEST(a_target_that_may_be_the_hosts_is_looked_at)
{
    warm_up(one);
    struct sc_simple_copy upload = upload_of(one, pinned);
    upload.device = (uintptr_t)pinned;
    ck_assert(!begin(&upload));
    sc_track_add_range(&sc_track, 0x20000, 4096, SC_MANAGED, 1, 0);
    ck_assert(sc_track_find_range(&sc_track, (uintptr_t)pinned).range != 0);
    ck_assert(!is_one(one, pinned));
}
END_TEST

START_TEST(an_upload_is_an_operation_like_others)
{
    SC_ISSUED(issued);
    SC_OPS(found);
    warm_up(one);
    uint64_t number = make(one, pinned, &issued);
    LOCKED(&sc_track, sc_inflight_find_in(scope_.inflight, (uintptr_t)pinned, 1, &found));
    ck_assert_uint_eq(found.count, 1);
    const struct sc_op_info *op = &found.ops[0];
    ck_assert_uint_eq(op->ticket.number, number);
    ck_assert_uint_eq(op->ticket.stream, one);
    ck_assert_uint_eq(op->origin, 7);
    ck_assert_uint_eq(op->stack, 6);
    ck_assert_int_eq(op->thread, 7);
    ck_assert_uint_eq(op->shape.width_bytes, bytes);
    ck_assert(op->direction == SC_H2D && op->kind == SC_PINNED && op->stable && op->slot);
    know(one, 0);
    LOCKED(&sc_track, sc_inflight_find_in(scope_.inflight, (uintptr_t)pinned, 1, &found));
    ck_assert_uint_eq(found.count, 0);
}
END_TEST

START_TEST(a_source_that_changes_is_found_when_the_host_has_waited)
{
    warm_up(one);
    make_alone(one, pinned);
    pinned[3]++;
    know(one, 1);
    make_alone(one, pinned);
    know(one, 0);
}
END_TEST

START_TEST(a_source_that_changes_is_found_by_the_next_equal_upload)
{
    SC_ISSUED(issued);
    warm_up(one);
    make_alone(one, pinned);
    make_alone(one, pinned);
    pinned[bytes - 1]++;
    make(one, pinned, &issued);
    ck_assert_uint_eq(issued.overwritten.count, 1);
    ck_assert_uint_eq(sc_track.inflight.ops.live, 1);
    know(one, 0);
}
END_TEST

START_TEST(equal_uploads_are_one_operation_and_others_are_not)
{
    warm_up(one);
    warm_up(two);
    for (int i = 0; i < 100; i++)
        make_alone(one, pinned);
    ck_assert_uint_eq(sc_track.inflight.ops.live, 1);
    make_alone(one, pinned + bytes);
    make_alone(two, pinned);
    ck_assert_uint_eq(sc_track.inflight.ops.live, 3);
    know(one, 0);
    ck_assert_uint_eq(sc_track.inflight.ops.live, 1);
    know(two, 0);
    ck_assert_uint_eq(sc_track.inflight.ops.live, 0);
}
END_TEST

START_TEST(an_upload_follows_an_equal_copy_that_came_another_way)
{
    warm_up(one);
    issue(one, pinned, SC_H2D);
    sc_track_note_complete(&sc_track, one, 1);
    make_alone(one, pinned);
    ck_assert_uint_eq(sc_track.inflight.ops.live, 1);
    issue(one, pinned, SC_H2D);
    make_alone(one, pinned);
    know(one, 0);
    ck_assert_uint_eq(sc_track.inflight.ops.live, 0);
}
END_TEST

START_TEST(an_equal_copy_that_came_another_way_is_compared_as_well)
{
    SC_ISSUED(issued);
    warm_up(one);
    make_alone(one, pinned);
    pinned[3]++;
    struct sc_simple_copy next = upload_of(one, pinned);
    ck_assert(begin(&next));
    struct sc_op_info info;
    struct sc_order_call call = {0};
    LOCKED(&sc_track, sc_inflight_describe_simple_copy(scope_.inflight, &next, &info));
    sc_track_issue(&sc_track, &call, &info, 1, &issued);
    ck_assert_uint_eq(issued.overwritten.count, 1);
    ck_assert_uint_eq(sc_track.inflight.ops.live, 1);
    know(one, 0);
}
END_TEST

/* The point of the second stream, which has waited for what the first one has so far. */
static struct sc_point point_behind_both(void)
{
    const uintptr_t event = 77;
    struct sc_order_call call;
    struct sc_point point;
    struct sc_wait wait;
    sc_track_begin_record(&sc_track, one, &call, &point);
    sc_track_end_record(&sc_track, &call, true);
    sc_track_set_event(&sc_track, event, &point);
    sc_track_begin_wait(&sc_track, two, event, &wait);
    sc_track_end_wait(&sc_track, &wait, true);
    return sc_track_sync_point(&sc_track, two, SC_SCOPE_STREAM);
}

static const struct sc_op *op_at(const char *source)
{
    uint32_t id = 0;
    SC_TRACK_SCOPE(track);
    for (id = 1; id < sc_pool_first_unused(&track.inflight->ops); id++)
        if (sc_inflight_op(track.inflight, id)->info.shape.address == (uintptr_t)source)
            break;
    return sc_inflight_op(track.inflight, id);
}

START_TEST(sources_of_all_streams_that_are_waited_for_are_compared_without_the_lock)
{
    struct sc_comparisons comparisons;
    SC_OPS(overwritten);
    warm_up(one);
    warm_up(two);
    make_alone(one, pinned);
    make_alone(two, pinned + bytes);
    struct sc_point point = point_behind_both();
    make_alone(one, pinned + 2 * bytes);
    pinned[3]++;
    pinned[2 * bytes]++;
    sc_track_compare_sources(&sc_track, &point, &comparisons);
    ck_assert(op_at(pinned)->looked && op_at(pinned)->differs);
    ck_assert(op_at(pinned + bytes)->looked && !op_at(pinned + bytes)->differs);
    ck_assert(!op_at(pinned + 2 * bytes)->looked);
    sc_track_note_known(&sc_track, &point, &comparisons, &overwritten);
    ck_assert_uint_eq(overwritten.count, 1);
    ck_assert_uint_eq(sc_track.inflight.ops.live, 1);
    know(one, 1);
}
END_TEST

START_TEST(a_writer_that_came_first_is_a_conflict)
{
    SC_ISSUED(issued);
    warm_up(one);
    struct sc_simple_copy upload = upload_of(one, pinned);
    ck_assert(begin(&upload));
    issue(two, pinned, SC_D2H);
    record(&upload, NULL, &issued);
    ck_assert_uint_eq(issued.conflicts.count, 1);
    know(two, 0);
    know(one, 0);
    ck_assert_uint_eq(sc_track.inflight.ops.live, 0);
}
END_TEST

/* No slot is handed out while an operation reads it. */
START_TEST(a_slot_comes_back_when_its_operation_is_complete)
{
    SC_ISSUED(issued);
    warm_up(one);
    struct sc_simple_copy first = upload_of(one, pinned), next = upload_of(one, pinned);
    ck_assert(begin(&first));
    uint64_t number = record(&first, NULL, &issued);
    unsigned count = 0;
    while (pinned[0]++, begin(&next)) {
        ck_assert_ptr_ne(next.slot, first.slot);
        ck_assert_uint_lt(count++, 1000);
        record(&next, NULL, &issued);
    }
    ck_assert_uint_gt(count, 100);
    ck_assert_ptr_null(LOCKED(&sc_track, sc_staging_take(&staging, bytes)));
    sc_track_note_complete(&sc_track, one, number);
    struct sc_slot *back = NULL;
    for (unsigned i = 0; i < count && !back; i++)
        back = LOCKED(&sc_track, sc_staging_take(&staging, bytes));
    ck_assert_ptr_eq(back, first.slot);
    LOCKED(&sc_track, sc_staging_put_back(back));
    know(one, 1);
    sc_track_remove_stream(&sc_track, one);
    ck_assert(sc_staging_has_all_slots(&staging));
}
END_TEST

START_TEST(a_snapshot_is_read_once_more_if_the_source_has_not_changed)
{
    SC_ISSUED(issued);
    warm_up(one);
    struct sc_simple_copy first = upload_of(one, pinned), next = first, changed = first;
    ck_assert(begin(&first) && !first.is_filled);
    record(&first, NULL, &issued);
    ck_assert(begin(&next) && next.is_filled);
    ck_assert_ptr_eq(next.slot, first.slot);
    record(&next, NULL, &issued);
    ck_assert_uint_eq(issued.overwritten.count, 0);
    pinned[3]++;
    ck_assert(begin(&changed) && !changed.is_filled);
    record(&changed, NULL, &issued);
    ck_assert_uint_eq(issued.overwritten.count, 1);
    know(one, 0);
}
END_TEST

/* The host may come to know of the earlier copy before the later one is made. */
START_TEST(a_snapshot_that_is_about_to_be_read_once_more_goes_with_no_earlier_copy)
{
    SC_ISSUED(issued);
    warm_up(one);
    struct sc_simple_copy next = upload_of(one, pinned);
    make_alone(one, pinned);
    ck_assert(begin(&next) && next.is_filled);
    know(one, 0);
    ck_assert_uint_eq(sc_track.inflight.ops.live, 0);
    for (unsigned i = 0; i < 10; i++) {
        struct sc_slot *taken = LOCKED(&sc_track, sc_staging_take(&staging, bytes));
        ck_assert_ptr_ne(taken, next.slot);
        LOCKED(&sc_track, sc_staging_put_back(taken));
    }
    record(&next, NULL, &issued);
    pinned[3]++;
    know(one, 1);
}
END_TEST

START_TEST(a_comparison_for_a_copy_that_is_refused_is_made_again)
{
    SC_ISSUED(issued);
    struct sc_op_info info;
    struct sc_order_call call = {0};
    warm_up(one);
    struct sc_simple_copy first = upload_of(one, pinned), next = first;
    ck_assert(begin(&first));
    LOCKED(&sc_track, sc_inflight_describe_simple_copy(scope_.inflight, &first, &info));
    info.is_simple = false;
    sc_track_issue(&sc_track, &call, &info, 1, &issued);
    warm_up(one);
    ck_assert(begin(&next) && !next.is_filled);
    LOCKED(&sc_track, sc_inflight_refuse_simple_copy(scope_.inflight, &next));
    pinned[3]++;
    know(one, 1);
}
END_TEST

START_TEST(a_slot_of_a_copy_that_is_refused_goes_back)
{
    warm_up(one);
    struct sc_simple_copy next = upload_of(one, pinned);
    make_alone(one, pinned);
    ck_assert(begin(&next) && next.is_filled);
    LOCKED(&sc_track, sc_inflight_refuse_simple_copy(scope_.inflight, &next));
    pinned[3]++;
    know(one, 1);
    make_alone(one, pinned);
    ck_assert(begin(&next) && next.is_filled);
    know(one, 0);
    LOCKED(&sc_track, sc_inflight_refuse_simple_copy(scope_.inflight, &next));
    ck_assert(begin(&next) && !next.is_filled);
    LOCKED(&sc_track, sc_inflight_refuse_simple_copy(scope_.inflight, &next));
    sc_track_remove_stream(&sc_track, one);
    ck_assert(sc_staging_has_all_slots(&staging));
}
END_TEST

/* ---- to the host ---- */

static struct sc_simple_copy download_of(uint32_t stream, char *target)
{
    struct sc_simple_copy copy = upload_of(stream, target);
    copy.to_host = true;
    copy.is_guarded = true;
    return copy;
}

static const struct sc_pages first_page = {(uintptr_t)pinned, (uintptr_t)pinned + 4096};

/* Is the copy simple, as one that has the same pages kept off already? It is recorded in any case.
 */
static bool is_exempt_already(struct sc_simple_copy *copy)
{
    SC_ISSUED(issued);
    ck_assert(sc_track_begin_simple_copy(&sc_track, NULL, copy));
    uint32_t begun = sc_spans_begun(&sc_track.inflight.guards);
    struct sc_op_info info;
    bool done = sc_track_issue_simple_copy(&sc_track, copy, &info, &issued);
    ck_assert_uint_eq(sc_spans_begun(&sc_track.inflight.guards), begun);
    if (!done)
        record(copy, copy->is_guarded ? &first_page : NULL, &issued);
    ck_assert_uint_eq(issued.conflicts.count + issued.overwritten.count, 0);
    return done;
}

START_TEST(a_download_is_simple_where_an_equal_one_has_its_pages_protected)
{
    SC_OPS(found);
    struct sc_simple_copy copy = download_of(one, pinned);
    ck_assert(!is_exempt_already(&copy));
    copy.stack = 9;
    for (unsigned i = 0; i < 10; i++)
        ck_assert(is_exempt_already(&copy));
    LOCKED(&sc_track, sc_inflight_find_in(scope_.inflight, (uintptr_t)pinned, 1, &found));
    ck_assert_uint_eq(found.count, 1);
    ck_assert_uint_eq(found.ops[0].ticket.number, 11);
    ck_assert_uint_eq(found.ops[0].stack, 9);
    ck_assert(LOCKED(&sc_track, sc_spans_access(scope_.guards, (uintptr_t)pinned)) ==
              SC_ACCESS_NONE);
    know(one, 0);
    ck_assert_uint_eq(sc_track.inflight.ops.live, 0);
    ck_assert(!is_exempt_already(&copy));
}
END_TEST

START_TEST(pages_that_were_let_go_or_chosen_long_ago_are_chosen_anew)
{
    struct sc_simple_copy copy = download_of(one, pinned);
    ck_assert(!is_exempt_already(&copy));
    LOCKED(&sc_track, sc_guarded_unprotect(scope_.inflight, (uintptr_t)pinned, 1, SC_TOUCH_WRITE,
                                           false, SC_NO_VERDICT_KERNEL));
    ck_assert(!is_exempt_already(&copy));
    ck_assert(is_exempt_already(&copy));
    copy.ticks += sc_ticks_in_ns(1000 * 1000 * 1000);
    ck_assert(!is_exempt_already(&copy));
    ck_assert(is_exempt_already(&copy));
    sc_track.inflight.guards.doubted_ticks = copy.ticks++;
    ck_assert(!is_exempt_already(&copy));
    ck_assert(is_exempt_already(&copy));
}
END_TEST

START_TEST(where_nothing_is_guarded_an_equal_download_is_simple)
{
    struct sc_simple_copy copy = download_of(one, pinned);
    copy.is_guarded = false;
    ck_assert(!is_exempt_already(&copy));
    ck_assert(is_exempt_already(&copy));
    copy.is_guarded = true;
    ck_assert(!is_exempt_already(&copy));
}
END_TEST

START_TEST(what_other_streams_do_on_the_range_or_on_none_is_looked_at_before_a_download)
{
    SC_ISSUED(issued);
    struct sc_simple_copy copy = download_of(one, pinned);
    issue(one, pinned + bytes, SC_H2D);
    ck_assert(sc_track_begin_simple_copy(&sc_track, NULL, &copy));
    issue(two, pinned, SC_H2D);
    struct sc_op_info info;
    ck_assert(!sc_track_issue_simple_copy(&sc_track, &copy, &info, &issued));
    ck_assert(!sc_track_begin_simple_copy(&sc_track, NULL, &copy));
    know(two, 0);
    know(one, 0);
    ck_assert(sc_track_begin_simple_copy(&sc_track, NULL, &copy));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("simple copies");
    TCase *group = tcase_create("uploads");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_set_timeout(group, 60);
    tcase_add_test(group, an_upload_needs_a_slot_and_a_range);
    tcase_add_test(group, memory_that_is_registered_or_peeked_at_is_none);
    tcase_add_test(group, what_is_written_on_the_range_or_on_none_is_looked_at);
    tcase_add_test(group, a_target_that_may_be_the_hosts_is_looked_at);
    tcase_add_test(group, an_upload_is_an_operation_like_others);
    tcase_add_test(group, a_source_that_changes_is_found_when_the_host_has_waited);
    tcase_add_test(group, a_source_that_changes_is_found_by_the_next_equal_upload);
    tcase_add_test(group, equal_uploads_are_one_operation_and_others_are_not);
    tcase_add_test(group, an_upload_follows_an_equal_copy_that_came_another_way);
    tcase_add_test(group, a_writer_that_came_first_is_a_conflict);
    tcase_add_test(group, a_slot_comes_back_when_its_operation_is_complete);
    suite_add_tcase(suite, group);
    tcase_add_test(group, a_download_is_simple_where_an_equal_one_has_its_pages_protected);
    tcase_add_test(group, pages_that_were_let_go_or_chosen_long_ago_are_chosen_anew);
    tcase_add_test(group, where_nothing_is_guarded_an_equal_download_is_simple);
    tcase_add_test(group,
                   what_other_streams_do_on_the_range_or_on_none_is_looked_at_before_a_download);
    tcase_add_test(group, a_snapshot_is_read_once_more_if_the_source_has_not_changed);
    tcase_add_test(group, a_snapshot_that_is_about_to_be_read_once_more_goes_with_no_earlier_copy);
    tcase_add_test(group, a_comparison_for_a_copy_that_is_refused_is_made_again);
    tcase_add_test(group, a_slot_of_a_copy_that_is_refused_goes_back);
    TCase *large = tcase_create("large uploads");
    tcase_add_checked_fixture(large, set_up_large, tear_down);
    tcase_add_test(large, an_upload_is_an_operation_like_others);
    tcase_add_test(large, a_source_that_changes_is_found_when_the_host_has_waited);
    tcase_add_test(large, a_source_that_changes_is_found_by_the_next_equal_upload);
    tcase_add_test(large, a_snapshot_is_read_once_more_if_the_source_has_not_changed);
    tcase_add_test(large, a_snapshot_that_is_about_to_be_read_once_more_goes_with_no_earlier_copy);
    tcase_add_test(large, a_comparison_for_a_copy_that_is_refused_is_made_again);
    tcase_add_test(large, a_slot_of_a_copy_that_is_refused_goes_back);
    tcase_add_test(large, equal_uploads_are_one_operation_and_others_are_not);
    tcase_add_test(large, an_upload_follows_an_equal_copy_that_came_another_way);
    tcase_add_test(large, an_equal_copy_that_came_another_way_is_compared_as_well);
    tcase_add_test(large, sources_of_all_streams_that_are_waited_for_are_compared_without_the_lock);
    suite_add_tcase(suite, large);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
