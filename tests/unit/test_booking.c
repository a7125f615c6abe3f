/* links: interpose/ledger/booking.c interpose/base/process.c
 *
 * What is booked where threads overtake each other: the driver hands an address, or a device's
 * primary context, out again before the call that has given it back is heard of.
 */
#include "interpose/base/process.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/made_here.h"
#include "interpose/driver/replaying.h"
#include "interpose/ledger/balance.h"
#include "interpose/ledger/booking.h"
#include "interpose/ledger/memory_kinds.h"
#include "interpose/streams/contexts.h"
#include "ledger/ledger.h"
#include "ledger/ledger_internal.h"
#include "report/options.h"

#include <check.h>
#include <stdlib.h>

enum { ADDRESS = 0x1000, BYTES = 1 << 20 };

/* ---- what else there is of the library ---- */

struct sc_real sc_real;
__thread struct sc_replaying sc_replaying;

uint32_t sc_made_here(const struct sc_call *call)
{
    (void)call;
    return 1;
}

uint32_t sc_made_here_at(const char *api, void *site, uintptr_t depth)
{
    (void)api;
    (void)site;
    (void)depth;
    return 1;
}

static struct sc_context *current;

struct sc_context *sc_contexts_of_memory(void)
{
    return current;
}

void sc_contexts_made_on(CUdevice device)
{
    (void)device;
}

struct sc_context *sc_contexts_on(CUdevice device)
{
    (void)device;
    return NULL;
}

void sc_balance_pool_leaves(void)
{
}

void sc_balance_pool_left(void)
{
}

/* ---- what happens ---- */

static const struct sc_memory block = {SC_MEMORY_DEVICE, ADDRESS, BYTES, 0, 1};
static const struct sc_memory primary = {SC_MEMORY_CONTEXT, 1, 0, 0, 1};

static void set_up(void)
{
    sc_options.memory = true;
    sc_process_uses_cuda(false);
}

/* By another thread. */
static void given(const struct sc_memory *memory)
{
    sc_booking_given(NULL, memory);
}

/* CUPTI tells of a call that has passed the wrappers by: before it, or behind it. */
static void told(const struct sc_memory *memory, bool prepares)
{
    sc_replaying = (struct sc_replaying){.frame = SC_FRAME(), .prepares = prepares};
    sc_booking_leaves(memory);
    if (!prepares)
        sc_booking_left(memory, true);
    sc_replaying = (struct sc_replaying){.prepares = false};
}

static uint64_t live(enum sc_ledger_kind kind)
{
    return sc_ledger.places[0].kinds[kind].blocks;
}

START_TEST(what_another_thread_was_given_stays_when_a_free_is_told_of_late)
{
    given(&block);
    told(&block, true);
    ck_assert_uint_eq(live(SC_LEDGER_DEVICE), 0);
    given(&block);
    told(&block, false);
    ck_assert_uint_eq(live(SC_LEDGER_DEVICE), 1);
    ck_assert_uint_eq(sc_ledger.sums[SC_LEDGER_UNKNOWN_FREES], 0);
}
END_TEST

START_TEST(what_is_booked_when_its_context_has_gone_goes_as_well)
{
    const struct sc_memory here = {SC_MEMORY_DEVICE, ADDRESS, BYTES, 0, 0};
    static struct sc_context ended = {.legacy = 7, .gone = true};
    current = &ended;
    given(&here);
    current = NULL;
    ck_assert_uint_eq(live(SC_LEDGER_DEVICE), 0);
}
END_TEST

/* Nothing was known before the call: it is not looked for once more. */
START_TEST(it_stays_when_what_was_freed_was_not_known)
{
    told(&block, true);
    given(&block);
    told(&block, false);
    ck_assert_uint_eq(live(SC_LEDGER_DEVICE), 1);
    ck_assert_uint_eq(sc_ledger.sums[SC_LEDGER_UNKNOWN_FREES], 1);
}
END_TEST

START_TEST(a_free_that_is_only_told_of_behind_it_is_booked)
{
    given(&block);
    told(&block, false);
    ck_assert_uint_eq(live(SC_LEDGER_DEVICE), 0);
}
END_TEST

/* The last release has ended the context; another thread makes one before that is asked for. */
START_TEST(a_context_that_is_made_anew_stays_when_the_last_one_has_left)
{
    given(&primary);
    sc_booking_leaves(&primary);
    given(&primary);
    sc_booking_left(&primary, false);
    ck_assert_uint_eq(live(SC_LEDGER_CONTEXTS), 1);
}
END_TEST

START_TEST(a_context_with_another_reference_stays)
{
    given(&primary);
    sc_booking_leaves(&primary);
    sc_booking_left(&primary, false);
    ck_assert_uint_eq(live(SC_LEDGER_CONTEXTS), 1);
    sc_booking_leaves(&primary);
    sc_booking_left(&primary, true);
    ck_assert_uint_eq(live(SC_LEDGER_CONTEXTS), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("booking");
    TCase *test = tcase_create("overtaken");
    tcase_add_checked_fixture(test, set_up, NULL);
    tcase_add_test(test, what_another_thread_was_given_stays_when_a_free_is_told_of_late);
    tcase_add_test(test, what_is_booked_when_its_context_has_gone_goes_as_well);
    tcase_add_test(test, it_stays_when_what_was_freed_was_not_known);
    tcase_add_test(test, a_free_that_is_only_told_of_behind_it_is_booked);
    tcase_add_test(test, a_context_that_is_made_anew_stays_when_the_last_one_has_left);
    tcase_add_test(test, a_context_with_another_reference_stays);
    suite_add_tcase(suite, test);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
