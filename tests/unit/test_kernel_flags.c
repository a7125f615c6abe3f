/* Kernels that have addresses of host memory: what is in flight there, and until when.
 */
#include "common/op_kinds.h"
#include "common/points.h"
#include "common/unsure.h"
#include "tests/unit/destroy.h"
#include "tests/unit/locked.h"
#include "track/guarded.h"
#include "track/inflight_calls.h"
#include "track/kernel_flags.h"
#include "track/op_info.h"
#include "track/track.h"
#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/tracker.h"

#include <check.h>
#include <stdlib.h>

#include "tests/emulator.h"

enum { BUFFER = 0x100000, OTHER = 0x200000, BYTES = 4096, LEGACY_HANDLE = 1 };

static struct sc_track track;
static uint32_t legacy, one, two;
static volatile uint32_t flag[2]; /* by which kernels talk: memory of its own */
static struct sc_ops ops;

static void add_range(uintptr_t address, size_t size_bytes, enum sc_buffer_kind kind)
{
    sc_track_add_range(&track, address, size_bytes, kind, legacy, 0);
}

static void set_up(void)
{
    ck_assert_int_eq(sc_track_init(&track), 0);
    legacy = sc_track_add_stream(&track, SC_STREAM_LEGACY, 0, LEGACY_HANDLE, 0);
    one = sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 2, 0);
    two = sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 3, 0);
    add_range(BUFFER, BYTES, SC_PINNED);
    add_range(OTHER, BYTES, SC_REGISTERED);
    add_range((uintptr_t)flag, sizeof flag, SC_PINNED);
    flag[0] = flag[1] = 0;
}

static void tear_down(void)
{
    destroy_track(&track);
}

static struct sc_op_info use(uint32_t stream, const struct sc_kernel_byte *byte)
{
    const struct sc_range_info range = sc_track_find_range(&track, byte->address);
    return (struct sc_op_info){
        .api = "kernel",
        .shape = {byte->address, 1, 1, 1},
        .ticket.stream = stream,
        .direction = SC_NO_DIRECTION,
        .kind = range.kind,
        .range = range.range,
        .unsure = byte->digest ? SC_UNSURE_UNJUDGED : 0,
        .digest = byte->digest,
    };
}

static struct sc_kernel_host host_of(uintptr_t first, uintptr_t second)
{
    const uintptr_t addresses[] = {first, second};
    struct sc_kernel_host host = {.count = 0};
    sc_track_find_kernel_host(&track, addresses, second ? 2 : 1, &host);
    return host;
}

static void launch_of(uint32_t stream, const struct sc_kernel_host *host)
{
    struct sc_op_info infos[SC_KERNEL_HOST_MAX];
    for (unsigned i = 0; i < host->count; i++)
        infos[i] = use(stream, &host->bytes[i]);
    sc_track_issue_one(&track, infos, host->count);
    for (unsigned i = 0; i < host->count; i++)
        ck_assert_uint_eq(infos[i].ticket.number, infos[0].ticket.number);
}

/* `second`: 0: there is but one. */
static void launch(uint32_t stream, uintptr_t first, uintptr_t second)
{
    const struct sc_kernel_host host = host_of(first, second);
    launch_of(stream, &host);
}

static unsigned in_flight(uintptr_t address)
{
    LOCKED(&track, sc_inflight_find_in(&track.inflight, address, 1, &ops));
    unsigned count = ops.count;
    sc_ops_end(&ops);
    return count;
}

static unsigned conflicts(uint32_t stream, enum sc_direction direction, uintptr_t address,
                          size_t size_bytes)
{
    const struct sc_op_info info = {.shape = {address, size_bytes, size_bytes, 1},
                                    .ticket.stream = stream,
                                    .direction = direction,
                                    .range = sc_track_find_range(&track, address).range};
    sc_track_conflicts(&track, &info, false, &ops);
    unsigned count = ops.count;
    sc_ops_end(&ops);
    return count;
}

static void copy(uint32_t stream, enum sc_direction direction, uintptr_t address)
{
    SC_ISSUED(issued);
    struct sc_op_info info = {.api = "copy",
                              .shape = {address, 64, 64, 1},
                              .ticket.stream = stream,
                              .direction = direction,
                              .kind = SC_PINNED,
                              .range = sc_track_find_range(&track, address).range};
    sc_track_issue(&track, &(struct sc_order_call){0}, &info, 1, &issued);
}

START_TEST(bytes_of_pinned_and_registered_memory_are_used_each_once)
{
    struct sc_kernel_host host = {.count = 0};
    const uintptr_t addresses[] = {8, BUFFER, OTHER + 9, BUFFER, BUFFER + BYTES, OTHER + 9};
    sc_track_find_kernel_host(&track, addresses, 6, &host);
    ck_assert_uint_eq(host.count, 2);
    ck_assert_uint_eq(host.bytes[0].address, BUFFER);
    ck_assert_uint_eq(host.bytes[1].address, OTHER + 9);
    add_range(0x300000, BYTES, SC_MANAGED);
    ck_assert_uint_eq(host_of(0x300000, 0).count, 0);
}
END_TEST

START_TEST(of_many_bytes_the_first_are_used)
{
    struct sc_kernel_host host = {.count = 0};
    uintptr_t addresses[2 * SC_KERNEL_HOST_MAX];
    for (unsigned i = 0; i < 2 * SC_KERNEL_HOST_MAX; i++)
        addresses[i] = BUFFER + i;
    sc_track_find_kernel_host(&track, addresses, 2 * SC_KERNEL_HOST_MAX, &host);
    ck_assert_uint_eq(host.count, SC_KERNEL_HOST_MAX);
    ck_assert_uint_eq(host.bytes[SC_KERNEL_HOST_MAX - 1].address, BUFFER + SC_KERNEL_HOST_MAX - 1);
    launch_of(one, &host);
    ck_assert_uint_eq(in_flight(BUFFER + SC_KERNEL_HOST_MAX - 1), 1);
}
END_TEST

START_TEST(a_kernel_is_in_flight_on_its_bytes_until_it_is_known_done)
{
    launch(one, BUFFER + 7, OTHER);
    ck_assert_uint_eq(in_flight(BUFFER + 7), 1);
    ck_assert_uint_eq(in_flight(OTHER), 1);
    ck_assert_uint_eq(in_flight(BUFFER + 6), 0);
    ck_assert_uint_eq(in_flight(BUFFER + 8), 0);
    struct sc_point point = sc_track_sync_point(&track, one, SC_SCOPE_STREAM);
    sc_track_note_known(&track, &point, NULL, NULL);
    ck_assert_uint_eq(in_flight(BUFFER + 7) + in_flight(OTHER), 0);
}
END_TEST

START_TEST(a_kernel_conflicts_with_what_writes_its_byte)
{
    launch(one, BUFFER + 7, 0);
    ck_assert_uint_eq(conflicts(two, SC_D2H, BUFFER, 8), 1);
    ck_assert_uint_eq(conflicts(two, SC_MEMSET, BUFFER + 7, 1), 1);
    ck_assert_uint_eq(conflicts(two, SC_D2H, BUFFER, 7), 0);
    ck_assert_uint_eq(conflicts(one, SC_D2H, BUFFER, 8), 0);
    ck_assert_uint_eq(conflicts(two, SC_H2D, BUFFER, 8), 0);
    ck_assert_uint_eq(conflicts(two, SC_NO_DIRECTION, BUFFER + 7, 1), 0);
}
END_TEST

START_TEST(what_writes_a_byte_conflicts_with_a_kernel_that_comes_later)
{
    copy(one, SC_D2H, BUFFER);
    copy(one, SC_H2D, OTHER);
    ck_assert_uint_eq(conflicts(two, SC_NO_DIRECTION, BUFFER + 63, 1), 1);
    ck_assert_uint_eq(conflicts(two, SC_NO_DIRECTION, BUFFER + 64, 1), 0);
    ck_assert_uint_eq(conflicts(two, SC_NO_DIRECTION, OTHER, 1), 0);
}
END_TEST

START_TEST(small_memory_is_taken_for_flags)
{
    static char line[SC_KERNEL_FLAG_BYTES_MAX], more[SC_KERNEL_FLAG_BYTES_MAX + 1];
    add_range((uintptr_t)line, sizeof line, SC_REGISTERED);
    add_range((uintptr_t)more, sizeof more, SC_REGISTERED);
    ck_assert_uint_ne(host_of((uintptr_t)line + 3, 0).bytes[0].digest, 0);
    ck_assert_uint_eq(host_of((uintptr_t)more, 0).bytes[0].digest, 0);
    ck_assert_uint_eq(host_of(BUFFER, 0).bytes[0].digest, 0);
    launch(one, (uintptr_t)line, 0);
    ck_assert_uint_eq(in_flight((uintptr_t)line), 0);         /* nothing is held against it */
    ck_assert(sc_track_overlaps(&track, (uintptr_t)line, 1)); /* and it is kept */
}
END_TEST

START_TEST(memory_that_cannot_be_read_is_no_flag)
{
    add_range(0x1000, 8, SC_PINNED);
    ck_assert_uint_eq(host_of(0x1000, 0).bytes[0].digest, 0);
}
END_TEST

START_TEST(a_flag_that_changes_tells_of_its_kernel_and_of_those_before)
{
    launch(one, BUFFER, 0);
    launch(one, BUFFER + 1, (uintptr_t)flag);
    launch(one, BUFFER + 2, 0);
    launch(two, BUFFER + 3, 0);
    ck_assert_uint_eq(in_flight(BUFFER) + in_flight(BUFFER + 1), 2);
    flag[1] = 1;
    ck_assert_uint_eq(in_flight(BUFFER), 0);
    ck_assert_uint_eq(in_flight(BUFFER + 1), 0);
    ck_assert_uint_eq(conflicts(two, SC_D2H, BUFFER, 2), 0);
    ck_assert_uint_eq(in_flight(BUFFER + 2), 1);
    ck_assert_uint_eq(in_flight(BUFFER + 3), 1);
    flag[1] = 0; /* the next turn begins: what was told stays told */
    ck_assert_uint_eq(in_flight(BUFFER) + in_flight(BUFFER + 1), 0);
}
END_TEST

START_TEST(a_flag_of_a_later_kernel_tells_too)
{
    launch(one, BUFFER, (uintptr_t)flag);
    launch(one, BUFFER + 1, (uintptr_t)flag);
    flag[0] = 1; /* by the first one, for all that is known */
    ck_assert_uint_eq(in_flight(BUFFER), 0);
}
END_TEST

START_TEST(what_a_flag_said_before_the_next_launch_is_kept)
{
    launch(one, BUFFER, (uintptr_t)flag);
    flag[0] = 1;
    launch(one, BUFFER + 1, (uintptr_t)flag);
    ck_assert_uint_eq(in_flight(BUFFER), 0);
    ck_assert_uint_eq(in_flight(BUFFER + 1), 1);
    flag[0] = 2;
    ck_assert_uint_eq(in_flight(BUFFER + 1), 0);
}
END_TEST

START_TEST(copies_are_not_told_of)
{
    copy(one, SC_D2H, BUFFER);
    launch(one, (uintptr_t)flag, 0);
    flag[0] = 1;
    ck_assert_uint_eq(in_flight(BUFFER), 1);
}
END_TEST

static struct sc_deallocation take_down(bool passes_kernels)
{
    struct sc_deallocation request = {.address = BUFFER,
                                      .size_bytes = BYTES,
                                      .hold = true,
                                      .kind = SC_HOLD_FREE,
                                      .context = legacy,
                                      .max_held_bytes = UINT64_MAX,
                                      .passes_kernels = passes_kernels};
    sc_track_deallocate(&track, &request);
    return request;
}

START_TEST(memory_is_held_for_a_kernel)
{
    launch(one, BUFFER, 0);
    SC_DEALLOCATION request = take_down(false);
    ck_assert_uint_eq(request.found.count, 1);
    ck_assert_uint_ne(request.held, 0);
    ck_assert_uint_eq(LOCKED(&track, sc_holds_count_awaited(&track.holds)), 1);
    ck_assert_uint_eq(in_flight(BUFFER), 0);
}
END_TEST

START_TEST(memory_that_passes_kernels_is_held_for_copies_alone)
{
    launch(one, BUFFER, 0);
    SC_DEALLOCATION passed = take_down(true);
    ck_assert_uint_eq(passed.found.count, 1);
    ck_assert_uint_eq(passed.held, 0);
    ck_assert(!passed.must_wait);
    ck_assert_uint_eq(in_flight(BUFFER), 0);
    launch(one, BUFFER, 0);
    copy(two, SC_H2D, BUFFER);
    SC_DEALLOCATION held = take_down(true);
    ck_assert_uint_eq(held.found.count, 2);
    ck_assert_uint_ne(held.held, 0);
    ck_assert_uint_eq(LOCKED(&track, sc_holds_count_awaited(&track.holds)), 1);
    sc_track_note_complete(&track, two, 1);
    ck_assert_uint_eq(sc_track_take_ready(&track, 0).hold, held.held);
}
END_TEST

START_TEST(of_flags_memory_is_held_without_a_word)
{
    launch(one, (uintptr_t)flag, 0);
    struct sc_deallocation request = {.address = (uintptr_t)flag,
                                      .size_bytes = sizeof flag,
                                      .hold = true,
                                      .kind = SC_HOLD_FREE,
                                      .context = legacy,
                                      .max_held_bytes = UINT64_MAX};
    sc_track_deallocate(&track, &request);
    ck_assert_uint_eq(request.found.count, 0);
    ck_assert_uint_ne(request.held, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernel_flags");
    TCase *group = tcase_create("kernel_flags");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_test(group, bytes_of_pinned_and_registered_memory_are_used_each_once);
    tcase_add_test(group, of_many_bytes_the_first_are_used);
    tcase_add_test(group, a_kernel_is_in_flight_on_its_bytes_until_it_is_known_done);
    tcase_add_test(group, a_kernel_conflicts_with_what_writes_its_byte);
    tcase_add_test(group, what_writes_a_byte_conflicts_with_a_kernel_that_comes_later);
    if (kernel_peeks())
        tcase_add_test(group, small_memory_is_taken_for_flags);
    tcase_add_test(group, memory_that_cannot_be_read_is_no_flag);
    if (kernel_peeks()) {
        tcase_add_test(group, a_flag_that_changes_tells_of_its_kernel_and_of_those_before);
        tcase_add_test(group, a_flag_of_a_later_kernel_tells_too);
        tcase_add_test(group, what_a_flag_said_before_the_next_launch_is_kept);
    }
    tcase_add_test(group, copies_are_not_told_of);
    tcase_add_test(group, memory_is_held_for_a_kernel);
    tcase_add_test(group, memory_that_passes_kernels_is_held_for_copies_alone);
    if (kernel_peeks())
        tcase_add_test(group, of_flags_memory_is_held_without_a_word);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
