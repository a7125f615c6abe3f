/* links: interpose/guard/loans.c interpose/base/spare_stack.c
 *
 * Memory on loan to the kernel, as the guard sees it from wherever it runs: a thread that handles a
 * touch does so on a stack of ours, which lies above its own or below.
 */
#include "interpose/guard/loans.h"

#include <check.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/frames.h"
#include "common/pages.h"
#include "interpose/base/process.h"
#include "interpose/base/spare_stack.h"
#include "interpose/base/thread_stack.h"
#include "track/guarded.h"
#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/tracker.h"

enum { PAGE = 4096, STACK_BYTES = 1 << 20 };

static const uintptr_t lent_page = UINT64_C(0x7f0000000000);

/* ---- what the guard's loans lean on ---- */

__thread int32_t sc_process_thread_id;
__thread struct sc_frame sc_inside;

int32_t sc_process_find_thread_id(void)
{
    return sc_process_thread_id = (int32_t)gettid();
}

bool sc_thread_stack_has_room(size_t size_bytes)
{
    (void)size_bytes;
    return true;
}

void sc_thread_stack_learn(void)
{
}

/* ---- looks ---- */

struct look {
    bool finds;
    struct sc_lent lent;
};

static void look_for_loan(void *argument)
{
    const struct sc_access_change change = {lent_page, PAGE, SC_ACCESS_NONE, 0};
    struct look *look = argument;
    look->finds = sc_loans_find(&change, &look->lent);
}

static bool is_found_from_here(void)
{
    struct look look = {0};
    look_for_loan(&look);
    return look.finds;
}

static bool is_found_from_spare_stack(void)
{
    struct look look = {0};
    sc_spare_stack_call(look_for_loan, &look);
    return look.finds;
}

/* ---- a call of the program that lends ---- */

static void lend(struct sc_loans *loans)
{
    sc_loans_add(loans, (const void *)(lent_page + 100), 8, SC_TOUCH_READ);
}

static __attribute__((noinline)) void call_that_comes_back(void)
{
    struct sc_loans loans = {.frame = SC_FRAME()};
    lend(&loans);
    ck_assert(is_found_from_here());
    ck_assert(is_found_from_spare_stack());
    ck_assert(is_found_from_spare_stack());
    sc_loans_end(&loans);
}

static sigjmp_buf back;

static __attribute__((noinline)) void call_that_is_left(void)
{
    struct sc_loans loans = {.frame = SC_FRAME()};
    lend(&loans);
    siglongjmp(back, 1);
}

/* Writes over what a call at this depth left on the stack. */
static __attribute__((noinline)) void overwrite(void)
{
    volatile char room[2048];
    for (unsigned i = 0; i < sizeof room; i++)
        room[i] = 1;
}

static void *lend_and_look(void *unused)
{
    call_that_comes_back();
    ck_assert(!is_found_from_spare_stack());
    if (sigsetjmp(back, 0) == 0)
        call_that_is_left();
    overwrite();
    ck_assert(!is_found_from_spare_stack());
    return unused;
}

static void run_on_stack(void *stack)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ck_assert_int_eq(pthread_attr_setstack(&attributes, stack, STACK_BYTES), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, lend_and_look, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

static void note_address(void *argument)
{
    *(char **)argument = __builtin_frame_address(0);
}

static char *address_of_spare_stack(void)
{
    char *address = NULL;
    sc_spare_stack_call(note_address, &address);
    return address;
}

/* Far enough from the stacks of ours, which lie together. */
static char *stack_at(const char *address, bool above)
{
    const size_t step = (size_t)64 << 20;
    const uintptr_t ours = (uintptr_t)address & ~(uintptr_t)0xffff; /* no page is larger */
    for (size_t far = step; far < 256 * step; far += step) {
        char *wanted = (char *)(above ? ours + far : ours - far);
        char *stack = mmap(wanted, STACK_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (stack == wanted)
            return stack;
        if (stack != MAP_FAILED)
            munmap(stack, STACK_BYTES);
    }
    return NULL;
}

START_TEST(a_loan_is_found_from_a_stack_of_ours_above_the_threads_own)
{
    char *stack = stack_at(address_of_spare_stack(), false);
    ck_assert_ptr_nonnull(stack);
    run_on_stack(stack);
}
END_TEST

START_TEST(a_loan_is_found_from_a_stack_of_ours_below_the_threads_own)
{
    char *stack = stack_at(address_of_spare_stack(), true);
    ck_assert_ptr_nonnull(stack);
    run_on_stack(stack);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loans");
    TCase *tests = tcase_create("loans");
    tcase_add_test(tests, a_loan_is_found_from_a_stack_of_ours_above_the_threads_own);
    tcase_add_test(tests, a_loan_is_found_from_a_stack_of_ours_below_the_threads_own);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
