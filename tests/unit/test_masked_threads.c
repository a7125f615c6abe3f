/* links: interpose/base/masked_threads.c
 *
 * Threads that begin under a mask of their own, with and without a C library that takes it in the
 * attributes; and attributes that are copied.
 */
#include "interpose/base/masked_threads.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/base/kernel_mask.h"
#include "interpose/base/loader.h"

enum { STACK_BYTES = 256 * 1024, GUARD_BYTES = 128 * 1024 };

typedef int set_function(pthread_attr_t *attributes, const sigset_t *mask);

static const uint64_t mask = SC_SIGNAL_BIT(SIGUSR1) | SC_SIGNAL_BIT(SIGTERM);
static bool is_old_library;

void *sc_loader_find(struct sc_next *next)
{
    return is_old_library ? NULL : dlsym(RTLD_DEFAULT, next->name);
}

static void *note_mask(void *into)
{
    *(uint64_t *)into = sc_kernel_mask_block(0);
    return into;
}

static uint64_t mask_in_thread(pthread_attr_t *attributes)
{
    pthread_t thread;
    uint64_t seen = 0;
    ck_assert_int_eq(
        sc_masked_threads_create(pthread_create, &thread, attributes, mask, note_mask, &seen), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    return seen;
}

START_TEST(has_its_mask)
{
    pthread_attr_t attributes;
    uint64_t before = sc_kernel_mask_block(SC_SIGNAL_BIT(SIGUSR2)) | SC_SIGNAL_BIT(SIGUSR2);
    is_old_library = _i;
    pthread_attr_init(&attributes);
    ck_assert_uint_eq(mask_in_thread(&attributes), mask);
    ck_assert_uint_eq(sc_kernel_mask_block(0), before);
    pthread_attr_destroy(&attributes);
}
END_TEST

static int refuse(pthread_t *thread, const pthread_attr_t *attributes, sc_run_function *run,
                  void *argument)
{
    (void)thread, (void)attributes, (void)run, (void)argument;
    return EAGAIN;
}

START_TEST(refused)
{
    pthread_attr_t attributes;
    pthread_t thread;
    uint64_t before = sc_kernel_mask_block(0);
    is_old_library = _i;
    pthread_attr_init(&attributes);
    ck_assert_int_eq(sc_masked_threads_create(refuse, &thread, &attributes, mask, note_mask, NULL),
                     EAGAIN);
    ck_assert_uint_eq(sc_kernel_mask_block(0), before);
    pthread_attr_destroy(&attributes);
}
END_TEST

START_TEST(mask_of_attributes)
{
    pthread_attr_t attributes;
    uint64_t found = 0;
    sigset_t set;
    ck_assert(!sc_masked_threads_have_mask(NULL, &found));
    pthread_attr_init(&attributes);
    ck_assert(!sc_masked_threads_have_mask(&attributes, &found));
    set_function *set_mask = (set_function *)dlsym(RTLD_DEFAULT, "pthread_attr_setsigmask_np");
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    if (set_mask && set_mask(&attributes, &set) == 0) {
        ck_assert(sc_masked_threads_have_mask(&attributes, &found));
        ck_assert_uint_eq(found, SC_SIGNAL_BIT(SIGHUP));
    }
    pthread_attr_destroy(&attributes);
}
END_TEST

static int flag_of(const pthread_attr_t *attributes,
                   int (*get)(const pthread_attr_t *attributes, int *value))
{
    int value = -1;
    ck_assert_int_eq(get(attributes, &value), 0);
    return value;
}

static void expect_alike(const pthread_attr_t *a, const pthread_attr_t *b)
{
    size_t size_a, size_b;
    void *stack_a, *stack_b;
    struct sched_param priority_a, priority_b;
    cpu_set_t processors_a, processors_b;
    ck_assert_int_eq(flag_of(a, pthread_attr_getdetachstate),
                     flag_of(b, pthread_attr_getdetachstate));
    ck_assert_int_eq(flag_of(a, pthread_attr_getinheritsched),
                     flag_of(b, pthread_attr_getinheritsched));
    ck_assert_int_eq(flag_of(a, pthread_attr_getschedpolicy),
                     flag_of(b, pthread_attr_getschedpolicy));
    pthread_attr_getschedparam(a, &priority_a);
    pthread_attr_getschedparam(b, &priority_b);
    ck_assert_int_eq(priority_a.sched_priority, priority_b.sched_priority);
    pthread_attr_getguardsize(a, &size_a);
    pthread_attr_getguardsize(b, &size_b);
    ck_assert_uint_eq(size_a, size_b);
    pthread_attr_getstack(a, &stack_a, &size_a);
    pthread_attr_getstack(b, &stack_b, &size_b);
    ck_assert_uint_eq(size_a, size_b);
    ck_assert_ptr_eq(stack_a, stack_b);
    pthread_attr_getaffinity_np(a, sizeof processors_a, &processors_a);
    pthread_attr_getaffinity_np(b, sizeof processors_b, &processors_b);
    ck_assert(CPU_EQUAL(&processors_a, &processors_b));
}

static void set_all(pthread_attr_t *attributes, bool has_stack)
{
    static char stack[STACK_BYTES] __attribute__((aligned(64)));
    struct sched_param priority = {.sched_priority = 3};
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    pthread_attr_setdetachstate(attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setguardsize(attributes, GUARD_BYTES);
    pthread_attr_setschedpolicy(attributes, SCHED_FIFO);
    pthread_attr_setschedparam(attributes, &priority);
    pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setaffinity_np(attributes, sizeof first, &first);
    if (has_stack)
        pthread_attr_setstack(attributes, stack, sizeof stack);
    else
        pthread_attr_setstacksize(attributes, STACK_BYTES);
}

/* 0: nothing is set; 1: all but where the stack is; 2: all. */
START_TEST(copied)
{
    pthread_attr_t given, copy;
    pthread_attr_init(&given);
    if (_i)
        set_all(&given, _i == 2);
    sc_masked_threads_copy(&copy, &given);
    expect_alike(&copy, &given);
    pthread_attr_destroy(&copy);
    pthread_attr_destroy(&given);
}
END_TEST

START_TEST(copied_from_none)
{
    pthread_attr_t fresh, copy;
    pthread_attr_init(&fresh);
    sc_masked_threads_copy(&copy, NULL);
    expect_alike(&copy, &fresh);
    ck_assert_uint_eq(mask_in_thread(&copy), mask);
    pthread_attr_destroy(&copy);
    pthread_attr_destroy(&fresh);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("masked_threads");
    TCase *cases = tcase_create("threads");
    tcase_add_loop_test(cases, has_its_mask, 0, 2);
    tcase_add_loop_test(cases, refused, 0, 2);
    tcase_add_test(cases, mask_of_attributes);
    tcase_add_loop_test(cases, copied, 0, 3);
    tcase_add_test(cases, copied_from_none);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
