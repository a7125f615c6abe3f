/* links: interpose/base/thread_stack.c interpose/base/process.c
 *
 * A recognised stack must be the true one, whatever lies about on the stack.
 */
#include <check.h>
#include <execinfo.h>
#include <stdlib.h>

#include "common/own_pages.h"
#include "tests/emulator.h"
#include "tests/unit/rounds.h"

#include "interpose/base/stack_cache.c" /* poisons, so it comes last */

enum { DEPTH_MAX = 12 };

static unsigned recognised;
static unsigned asked;
static unsigned choices; /* one bit for each level: which of two call sites */

/* 0: it is not known. */
static uint32_t id_of(const void *site, uintptr_t depth)
{
    const struct sc_stack_known *known = sc_stack_cache_find(site, depth);
    return known ? known->id : 0;
}

/* The stand-in for the library's unwinder: glibc's. */
static __attribute__((noinline)) void ask(void)
{
    void *frames[64];
    uintptr_t depth = (uintptr_t)__builtin_frame_address(0);
    void *site = __builtin_return_address(0);
    int count = backtrace(frames, 64);
    int own = 0;
    while (own < count && frames[own] != site)
        own++;
    ck_assert_int_lt(own, count);
    uint32_t truth = sc_stacks_put(frames + own, (unsigned)(count - own));
    uint32_t found = id_of(site, depth);
    asked++;
    if (found) {
        ck_assert_uint_eq(found, truth);
        recognised++;
        return;
    }
    sc_stack_cache_learn(site, depth, truth, frames + own, (unsigned)(count - own), NULL);
}

/* Both call sites need frames of one size, so stacks of equal depth differ in their addresses only;
 * the array leaves stale words behind for the next descent. */
static __attribute__((noinline)) void descend(unsigned level)
{
    volatile uintptr_t litter[6];
    for (unsigned i = 0; i < 6; i++)
        if (choices >> i & 1)
            litter[i] = level;
    if (level == 0)
        ask();
    else if (choices >> level & 1)
        descend(level - 1);
    else
        descend(level - 1);
    __asm__ volatile("" : : "r"(litter) : "memory");
}

START_TEST(recognised_stacks_are_true)
{
    unsigned count = rounds(200000);
    srand(7);
    for (unsigned round = 0; round < count; round++) {
        if (round % 16 == 0) /* the same path for a while, so that it is learnt */
            choices = (unsigned)rand();
        descend(1 + (choices >> 16) % DEPTH_MAX);
    }
    ck_assert_uint_gt(recognised, asked / 10); /* a sanitizer leaves more stale words about */
}
END_TEST

START_TEST(another_caller_is_not_recognised)
{
    recognised = 0;
    choices = 0;
    for (unsigned round = 0; round < 100; round++)
        descend(5);
    unsigned before = recognised;
    ck_assert_uint_gt(before, 0);
    choices = 1u << 3;
    descend(5);
    ck_assert_uint_eq(recognised, before);
}
END_TEST

START_TEST(nothing_is_known_at_first)
{
    ck_assert_uint_eq(id_of(&recognised, (uintptr_t)&asked), 0);
}
END_TEST

/* A stack of two callers, with a stale copy of the inner one's address below the real one. */
enum { STALE = 2, INNER = 5, OUTER = 9 };
static _Alignas(PAGE_BYTES_MIN) uintptr_t stack[WINDOW_WORDS];
static void *const callers[] = {&choices, &recognised, &asked};

static bool place_callers(void *const *frames, unsigned count, uintptr_t *places)
{
    ck_assert_ptr_eq(frames, callers);
    ck_assert_uint_eq(count, 3);
    places[0] = (uintptr_t)&stack[INNER];
    places[1] = (uintptr_t)&stack[OUTER];
    return true;
}

static bool place_outside(void *const *frames, unsigned count, uintptr_t *places)
{
    place_callers(frames, count, places);
    places[1] = (uintptr_t)stack - 8;
    return true;
}

static uintptr_t far_places[2];

static bool place_far_off(void *const *frames, unsigned count, uintptr_t *places)
{
    place_callers(frames, count, places);
    places[0] = far_places[0];
    places[1] = far_places[1];
    return true;
}

static uint32_t recognise_after_learning(sc_stack_cache_place *place)
{
    stack[STALE] = stack[INNER] = (uintptr_t)callers[1];
    stack[OUTER] = (uintptr_t)callers[2];
    for (unsigned i = 0; i < 8; i++)
        sc_stack_cache_learn(callers[0], (uintptr_t)stack, 77, callers, 3, place);
    return id_of(callers[0], (uintptr_t)stack);
}

START_TEST(beside_a_stale_copy_the_search_learns_nothing)
{
    ck_assert_uint_eq(recognise_after_learning(NULL), 0);
}
END_TEST

START_TEST(beside_a_stale_copy_places_are_learnt)
{
    ck_assert_uint_eq(recognise_after_learning(place_callers), 77);
    stack[STALE] = 0;
    ck_assert_uint_eq(id_of(callers[0], (uintptr_t)stack), 77);
    stack[INNER] = 0;
    ck_assert_uint_eq(id_of(callers[0], (uintptr_t)stack), 0);
}
END_TEST

START_TEST(places_outside_the_window_are_not_learnt)
{
    ck_assert_uint_eq(recognise_after_learning(place_outside), 0);
}
END_TEST

static uint32_t recognise_far_off(uintptr_t *words, unsigned outer, uint32_t id)
{
    far_places[0] = (uintptr_t)&words[INNER];
    far_places[1] = (uintptr_t)&words[outer];
    words[INNER] = (uintptr_t)callers[1];
    words[outer] = (uintptr_t)callers[2];
    for (unsigned i = 0; i < 8; i++)
        sc_stack_cache_learn(callers[0], (uintptr_t)words, id, callers, 3, place_far_off);
    return id_of(callers[0], (uintptr_t)words);
}

static __attribute__((noinline)) uint32_t recognise_far_up_here(void)
{
    uintptr_t words[2 * WINDOW_WORDS];
    uint32_t found = recognise_far_off(words, 2 * WINDOW_WORDS - 1, 78);
    __asm__ volatile("" : : "r"(words) : "memory");
    return found;
}

/* What the thread's own stack holds is there for as long as the thread is, and nobody is asked. */
START_TEST(places_far_up_the_threads_own_stack_are_learnt)
{
    ck_assert_uint_eq(recognise_far_up_here(), kernel_peeks() ? 78 : 0);
    sc_thread_stack_learn();
    ck_assert_uint_eq(recognise_far_up_here(), 78);
}
END_TEST

/* As coroutines' stacks do, where a shorter one is mapped in the place of another. */
START_TEST(a_stack_that_ends_before_a_place_is_not_read_there)
{
    enum { BYTES = 1 << 20, OUTERMOST = BYTES / sizeof(uintptr_t) - 1 };
    char *pages = sc_pages_map(BYTES);
    uintptr_t *words = (uintptr_t *)(void *)pages;
    ck_assert_ptr_nonnull(pages);
    sc_thread_stack_learn();
    ck_assert_uint_eq(recognise_far_off(words, OUTERMOST, 79), 79);
    sc_pages_unmap(pages + BYTES / 2, BYTES / 2);
    ck_assert_uint_eq(id_of(callers[0], (uintptr_t)words), 0);
    sc_pages_unmap(pages, BYTES / 2);
}
END_TEST

enum { DEEP = SC_STACK_DEPTH_MAX + 9 };

static bool place_deep(void *const *frames, unsigned count, uintptr_t *places)
{
    ck_assert_uint_eq(count, SC_STACK_DEPTH_MAX);
    for (unsigned i = 1; i < count; i++)
        places[i - 1] = (uintptr_t)frames[i];
    return true;
}

/* Of the stack that is stored all counts, and nothing beyond. */
START_TEST(the_deepest_stacks_are_learnt)
{
    void *frames[DEEP] = {callers[0]};
    for (unsigned i = 1; i < DEEP; i++) {
        stack[2 * i] = (uintptr_t)&stack[2 * i];
        frames[i] = &stack[2 * i];
    }
    uint32_t id = sc_stacks_put(frames, DEEP);
    for (unsigned i = 0; i < 8; i++)
        sc_stack_cache_learn(frames[0], (uintptr_t)stack, id, frames, DEEP, place_deep);
    ck_assert_uint_eq(id_of(frames[0], (uintptr_t)stack), id);
    stack[2 * SC_STACK_DEPTH_MAX] = 0;
    ck_assert_uint_eq(id_of(frames[0], (uintptr_t)stack), id);
    stack[2 * (SC_STACK_DEPTH_MAX - 1)] = 0;
    ck_assert_uint_eq(id_of(frames[0], (uintptr_t)stack), 0);
}
END_TEST

/* At one depth, or from one site, and in turn. */
START_TEST(a_dozen_stacks_in_turn_are_all_learnt)
{
    enum { STACKS = 12 };
    static uintptr_t stacks[STACKS][WINDOW_WORDS];
    static const char sites[STACKS];
    for (unsigned round = 0; round < 64; round++)
        for (unsigned i = 0; i < STACKS; i++) {
            void *const frames[] = {(void *)(uintptr_t)&sites[i], (void *)(uintptr_t)&sites[0]};
            stacks[i][INNER] = (uintptr_t)frames[1];
            if (!id_of(frames[0], (uintptr_t)stacks[i]))
                sc_stack_cache_learn(frames[0], (uintptr_t)stacks[i], 100 + i, frames, 2, NULL);
        }
    for (unsigned i = 0; i < STACKS; i++)
        ck_assert_uint_eq(id_of(&sites[i], (uintptr_t)stacks[i]), 100 + i);
}
END_TEST

/* The same function calls from the same depth, and its callers differ. */
START_TEST(stacks_of_one_key_are_told_apart)
{
    enum { STACKS = 3 };
    for (unsigned round = 0; round < 16; round++)
        for (unsigned i = 0; i < STACKS; i++) {
            void *const frames[] = {callers[0], &stack[100 + i]};
            stack[OUTER] = (uintptr_t)frames[1];
            uint32_t found = id_of(frames[0], (uintptr_t)&stack[1]);
            ck_assert(found == 0 || found == 200 + i);
            if (round == 15)
                ck_assert_uint_eq(found, 200 + i);
            if (!found)
                sc_stack_cache_learn(frames[0], (uintptr_t)&stack[1], 200 + i, frames, 2, NULL);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("seen_stacks");
    TCase *tests = tcase_create("seen_stacks");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, nothing_is_known_at_first);
    if (kernel_peeks()) {
        tcase_add_test(tests, another_caller_is_not_recognised);
        tcase_add_test(tests, recognised_stacks_are_true);
    }
    tcase_add_test(tests, beside_a_stale_copy_the_search_learns_nothing);
    tcase_add_test(tests, beside_a_stale_copy_places_are_learnt);
    tcase_add_test(tests, places_outside_the_window_are_not_learnt);
    tcase_add_test(tests, places_far_up_the_threads_own_stack_are_learnt);
    tcase_add_test(tests, the_deepest_stacks_are_learnt);
    if (kernel_peeks()) {
        tcase_add_test(tests, a_stack_that_ends_before_a_place_is_not_read_there);
        tcase_add_test(tests, a_dozen_stacks_in_turn_are_all_learnt);
        tcase_add_test(tests, stacks_of_one_key_are_told_apart);
    }
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
