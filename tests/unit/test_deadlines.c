/* Waits that end, and by which clock. */
#include "common/deadlines.h"
#include "common/now.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum { WAIT_NS = 20 * 1000 * 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static struct timespec deadline;
static uint64_t until_ns;

static void begin(void)
{
    until_ns = sc_now_ns() + WAIT_NS;
    deadline = sc_deadline_in(WAIT_NS);
}

/* By the wrong clock the deadline would be long past, or far away. */
static bool has_ended(void)
{
    return sc_now_ns() >= until_ns;
}

static void *lock_in_vain(void *result)
{
    *(int *)result = sc_lock_until(&lock, &deadline);
    return NULL;
}

START_TEST(a_deadline_is_carried_into_the_seconds)
{
    struct timespec now = sc_deadline_in(0);
    struct timespec at = sc_deadline_in(UINT64_C(5999999999));
    ck_assert_int_ge(at.tv_nsec, 0);
    ck_assert_int_lt(at.tv_nsec, 1000000000);
    ck_assert_int_ge(at.tv_sec, now.tv_sec + 5);
    ck_assert_int_le(now.tv_sec, (time_t)(sc_now_ns() / 1000000000u));
    ck_assert_int_ge(now.tv_sec + 60, (time_t)(sc_now_ns() / 1000000000u));
}
END_TEST

START_TEST(a_lock_is_waited_for)
{
    pthread_t thread;
    int result = 0;
    begin();
    ck_assert_int_eq(sc_lock_until(&lock, &deadline), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, lock_in_vain, &result), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(result, ETIMEDOUT);
    ck_assert(has_ended());
    pthread_mutex_unlock(&lock);
}
END_TEST

/* glibc's since 2.30, and without them. */
static sc_cond_clockwait_function *cond_waits[] = {NULL, NULL};
static sc_sem_clockwait_function *sem_waits[] = {NULL, NULL};

START_TEST(a_condition_is_waited_for)
{
    int result = 0;
    sc_deadlines_use(cond_waits[_i], NULL);
    pthread_mutex_lock(&lock);
    begin();
    while (result == 0)
        result = sc_cond_wait_until(&cond, &lock, &deadline);
    ck_assert_int_eq(result, ETIMEDOUT);
    ck_assert(has_ended());
    pthread_mutex_unlock(&lock);
}
END_TEST

START_TEST(a_semaphore_is_waited_for)
{
    sem_t semaphore;
    sc_deadlines_use(NULL, sem_waits[_i]);
    sem_init(&semaphore, 0, 1);
    begin();
    ck_assert_int_eq(sc_sem_wait_until(&semaphore, &deadline), 0);
    ck_assert_int_eq(sc_sem_wait_until(&semaphore, &deadline), -1);
    ck_assert_int_eq(errno, ETIMEDOUT);
    ck_assert(has_ended());
    sem_destroy(&semaphore);
}
END_TEST

static clockid_t clock_of_cond, clock_of_sem;

static int note_cond(pthread_cond_t *cond_, pthread_mutex_t *lock_, clockid_t clock,
                     const struct timespec *until)
{
    (void)cond_;
    (void)lock_;
    clock_of_cond = clock;
    return until->tv_sec == deadline.tv_sec && until->tv_nsec == deadline.tv_nsec ? ETIMEDOUT
                                                                                  : EINVAL;
}

static int note_sem(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    (void)semaphore;
    clock_of_sem = clock;
    errno = until->tv_sec == deadline.tv_sec ? ETIMEDOUT : EINVAL;
    return -1;
}

START_TEST(what_was_found_waits_by_a_clock_that_nobody_sets)
{
    begin();
    clock_of_cond = clock_of_sem = CLOCK_REALTIME;
    sc_deadlines_use(note_cond, note_sem);
    ck_assert_int_eq(sc_cond_wait_until(&cond, &lock, &deadline), ETIMEDOUT);
    ck_assert_int_eq(sc_sem_wait_until(NULL, &deadline), -1);
    ck_assert_int_eq(errno, ETIMEDOUT);
    ck_assert_int_eq(clock_of_cond, CLOCK_MONOTONIC);
    ck_assert_int_eq(clock_of_sem, CLOCK_MONOTONIC);
}
END_TEST

int main(void)
{
    cond_waits[1] = (sc_cond_clockwait_function *)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
    sem_waits[1] = (sc_sem_clockwait_function *)dlsym(RTLD_DEFAULT, "sem_clockwait");
    Suite *suite = suite_create("waits");
    TCase *group = tcase_create("waits");
    tcase_add_test(group, a_deadline_is_carried_into_the_seconds);
    tcase_add_test(group, a_lock_is_waited_for);
    tcase_add_loop_test(group, a_condition_is_waited_for, 0, 2);
    tcase_add_loop_test(group, a_semaphore_is_waited_for, 0, 2);
    tcase_add_test(group, what_was_found_waits_by_a_clock_that_nobody_sets);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
