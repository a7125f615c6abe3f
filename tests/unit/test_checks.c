/* A test of the net itself. In a build with checks (make DEBUG=1) a lock that is forgotten and a
 * list that is broken end the process at once, with what was asked and the thread's trace; in any
 * other build the same is no code at all.
 *
 * test_checks stop   leaves a track as a debugger is to find it, and ends by SIGABRT
 */
#include "common/brief_lock.h"
#include "common/checks.h"
#include "common/points.h"
#include "common/pool.h"
#include "track/guarded.h"
#include "track/hold.h"
#include "track/inflight.h"
#include "track/op_info.h"
#include "track/order.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/trace.h"
#include "track/track.h"
#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_internal.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/tracker.h"

static struct sc_track track;
static uint32_t legacy, stream;
static char said[64 * 1024];

static void set_up(void)
{
    ck_assert_int_eq(sc_track_init(&track), 0);
    legacy = sc_track_add_stream(&track, SC_STREAM_LEGACY, 0, 1, 0);
    stream = sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 2, 0);
}

static void issue(struct sc_track *on, uint32_t of, uintptr_t address)
{
    SC_ISSUED(issued);
    struct sc_op_info info = {.api = "copy",
                              .shape = {address, 64, 64, 1},
                              .ticket.stream = of,
                              .direction = SC_H2D,
                              .kind = SC_PAGEABLE};
    sc_track_issue(on, &(struct sc_order_call){0}, &info, 1, &issued);
}

/* What a child says on stderr, and how it ends. */
static int status_of(void (*mistake)(void))
{
    int ends[2];
    size_t used = 0;
    ssize_t count;
    int status = 0;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[1]);
        mistake();
        _exit(0);
    }
    close(ends[1]);
    while ((count = read(ends[0], said + used, sizeof said - 1 - used)) > 0)
        used += (size_t)count;
    said[used] = '\0';
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

static void expect_caught(void (*mistake)(void), const char *file, const char *what)
{
    int status = status_of(mistake);
    if (!SC_CHECKS_ON) {
        ck_assert_str_eq(said, "");
        return;
    }
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %x", status);
    ck_assert_msg(strstr(said, "safecopy: assertion failed: ") && strstr(said, file) &&
                      strstr(said, what),
                  "%s", said);
    ck_assert_msg(strstr(said, " stream-add kind=") != NULL, "%s", said); /* the trace */
}

static void forget_the_lock(void)
{
    sc_order_issue(&track.order, stream);
}

static void call_with_no_lock(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    SC_ASSERT_HELD(&mutex);
    pthread_mutex_unlock(&mutex);
    SC_ASSERT_HELD(&mutex);
}

static void lock_twice(void)
{
    if (SC_CHECKS_ON) { /* or it waits for itself */
        sc_brief_lock_acquire(&track.lock);
        sc_brief_lock_acquire(&track.lock);
    }
}

static void give_what_another_has(void)
{
    atomic_store(&track.lock.state, 1);
    sc_brief_lock_release(&track.lock);
}

START_TEST(a_lock_that_is_forgotten_is_found)
{
    expect_caught(forget_the_lock, "track/order.c:", "&order->streams is used with its lock");
    expect_caught(call_with_no_lock, "test_checks.c:", "&mutex is held");
    expect_caught(lock_twice, "common/brief_lock.c:", "lock is not held");
    expect_caught(give_what_another_has, "common/brief_lock.c:", "lock is held");
}
END_TEST

static void break_stream_list(void)
{
    issue(&track, stream, 0x10000);
    issue(&track, stream, 0x20000);
    struct sc_stream *of = sc_order_stream(&track.order, stream);
    sc_inflight_op(&track.inflight, of->first_op)->stream_next = 0;
    issue(&track, stream, 0x30000);
}

static void miscount_a_range(void)
{
    issue(&track, stream, 0x10000);
    atomic_fetch_add(&sc_inflight_range(&track.inflight, track.inflight.no_range)->op_count, 1);
    issue(&track, stream, 0x20000);
}

static void break_a_chain(void)
{
    issue(&track, stream, 0x10000);
    issue(&track, stream, 0x10040);
    uint32_t op = sc_order_stream(&track.order, stream)->first_op;
    sc_inflight_op(&track.inflight, op)->node.previous[0] = 0;
    issue(&track, stream, 0x10080);
}

static void give_twice(void)
{
    struct sc_pool pool;
    sc_pool_init(&pool, 64);
    uint32_t one = sc_pool_take(&pool), other = sc_pool_take(&pool);
    sc_pool_release(&pool, one);
    sc_pool_release(&pool, other);
    pool.live = 1;
    sc_pool_release(&pool, one);
}

static void complete_what_is_to_come(void)
{
    sc_track_note_complete(&track, stream, 5);
}

static void break_holds(void)
{
    sc_brief_lock_acquire(&track.lock);
    sc_holds_add(&track.holds, SC_HOLD_FREE, 0x10000, 64, 0, 0);
    track.holds.held_bytes = 1;
    sc_holds_add(&track.holds, SC_HOLD_FREE, 0x20000, 64, 0, 0);
}

START_TEST(a_list_that_is_broken_is_found)
{
    expect_caught(break_stream_list, "track/consistency.c:", "stream");
    expect_caught(miscount_a_range, "track/inflight.c:", "op_count(range)");
    expect_caught(break_a_chain, "track/grid.c:", "previous[side_of(at)] == previous");
    expect_caught(give_twice, "common/pool.c:", "check_spare");
    expect_caught(break_holds, "track/consistency.c:", "bytes == holds->held_bytes");
}
END_TEST

START_TEST(a_state_that_cannot_be_is_found)
{
    expect_caught(complete_what_is_to_come, "track/", "complete");
}
END_TEST

static void trace_more_than_there_is_room_for(void)
{
    for (unsigned i = 0; i < 2 * SC_TRACE_EVENTS; i++)
        SC_TRACE("round i twice", i, 2 * i);
    sc_trace_print();
}

START_TEST(a_ring_has_the_latest_events)
{
    ck_assert_int_eq(status_of(trace_more_than_there_is_room_for), 0);
    if (!SC_TRACE_ON) {
        ck_assert_str_eq(said, "");
        return;
    }
    ck_assert_ptr_null(strstr(said, " round i=0xff twice=")); /* 256 events ago */
    ck_assert_ptr_nonnull(strstr(said, " round i=0x100 twice=0x200\n"));
    ck_assert_ptr_nonnull(strstr(said, " round i=0x1ff twice=0x3fe\n"));
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("checks");
    TCase *cases = tcase_create("all");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, a_lock_that_is_forgotten_is_found);
    tcase_add_test(cases, a_list_that_is_broken_is_found);
    tcase_add_test(cases, a_state_that_cannot_be_is_found);
    tcase_add_test(cases, a_ring_has_the_latest_events);
    suite_add_tcase(suite, cases);
    return suite;
}

/* The process's own track, since a debugger finds that one by its name. */
static void stop(void)
{
    if (sc_track_init(&sc_track) != 0)
        return;
    uint32_t context = sc_track_add_stream(&sc_track, SC_STREAM_LEGACY, 0, 0x111, 0);
    uint32_t one = sc_track_add_stream(&sc_track, SC_STREAM_NONBLOCKING, context, 0x222, 0);
    sc_track_add_range(&sc_track, 0x10000, 4096, SC_PINNED, context, 0);
    issue(&sc_track, one, 0x10040);
    issue(&sc_track, one, 0x50000);
    sc_brief_lock_acquire(&sc_track.lock);
    sc_holds_add(&sc_track.holds, SC_HOLD_FREE, 0x50000, 64, 0, 0);
    raise(SIGABRT);
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "stop") == 0)
        stop();
    SRunner *runner = srunner_create(suite());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
