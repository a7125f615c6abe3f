/* links: interpose/guard/block_areas.c interpose/base/warning.c
 *
 * When an area of a large pinned block changes from mprotect to userfaultfd. What is asked of the
 * kernel and of the spans is stood in for. */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/pages.h"
#include "interpose/base/process.h"
#include "interpose/guard/block_areas.h"
#include "interpose/guard/map_waits.h"
#include "interpose/guard/protect.h"
#include "interpose/guard/user_touches.h"
#include "interpose/guard/userfaults.h"
#include "interpose/memory/areas.h"
#include "report/options.h"
#include "report/userfaultfd.h"
#include "tests/unit/locked.h"
#include "track/spans.h"
#include "track/track.h"
#include "track/tracker.h"

/* Stand-ins of what is asked and told. The one area is behind the shared ones. */
enum { BYTES = 64 << 10 };

struct sc_areas sc_areas;
struct sc_options sc_options;

static const uintptr_t start = (uintptr_t)1 << 40;
static bool waits_are_long, is_refused, is_adopted;
static uint32_t busy; /* a span on the last page of the area; 0: none */
static unsigned attempts;

bool sc_map_waits_are_long(void)
{
    return waits_are_long;
}

bool sc_userfaults_have_adopted(uintptr_t first, size_t size_bytes)
{
    (void)first;
    (void)size_bytes;
    return is_adopted;
}

bool sc_user_touches_begin(void)
{
    return true;
}

bool sc_userfaults_adopt_huge(uintptr_t area)
{
    (void)area;
    return true;
}

bool sc_protect_move_area(uintptr_t address, bool (*adopt)(uintptr_t))
{
    attempts++;
    ck_assert(!busy);
    is_adopted = !is_refused && adopt(address);
    return is_adopted;
}

enum sc_userfaultfd_state sc_userfaults_state(void)
{
    return SC_USERFAULTFD_OPENED;
}

static void guard_one(void)
{
    uintptr_t at = start + (uintptr_t)SC_AREAS_SHARED * SC_AREAS_BYTES;
    sc_block_areas_choose(&(struct sc_pages){at, at + BYTES});
}

static void set_busy(bool is_busy)
{
    uintptr_t end = start + (uintptr_t)(SC_AREAS_SHARED + 1) * SC_AREAS_BYTES;
    const struct sc_span_owner owner = {1, 1};
    if (busy)
        LOCKED(&sc_track, sc_spans_end(scope_.guards, busy));
    busy = is_busy ? LOCKED(&sc_track,
                            sc_spans_add(scope_.guards, owner, end - 1, 1, SC_ACCESS_NONE, 0))
                   : 0;
    ck_assert(!is_busy || busy);
}

static void set_up(void)
{
    sc_areas.start = start;
    sc_areas.size_bytes = (size_t)SC_AREAS_COUNT * SC_AREAS_BYTES;
    sc_options.guard = SC_GUARD_ON;
    ck_assert_int_eq(sc_track_init(&sc_track), 0);
}

START_TEST(an_area_changes_at_the_first_guard_behind_long_waits)
{
    for (int i = 0; i < 5000; i++)
        guard_one();
    ck_assert_uint_eq(attempts, 0);
    waits_are_long = true;
    guard_one();
    ck_assert(is_adopted);
}
END_TEST

/* As where many results are in flight before the host waits. */
START_TEST(an_area_changes_when_nothing_in_it_is_guarded_any_more)
{
    waits_are_long = true;
    set_busy(true);
    for (int i = 0; i < 1000; i++)
        guard_one();
    ck_assert_uint_eq(attempts, 0);
    set_busy(false);
    guard_one();
    ck_assert(is_adopted);
}
END_TEST

START_TEST(a_change_that_is_refused_is_tried_ever_more_rarely)
{
    waits_are_long = is_refused = true;
    for (int i = 0; i < 1024; i++)
        guard_one();
    ck_assert_uint_eq(attempts, 11);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("block_areas");
    TCase *tests = tcase_create("block_areas");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, an_area_changes_at_the_first_guard_behind_long_waits);
    tcase_add_test(tests, an_area_changes_when_nothing_in_it_is_guarded_any_more);
    tcase_add_test(tests, a_change_that_is_refused_is_tried_ever_more_rarely);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
