/* A lock for some tens of nanoseconds: one thread at a time has it, whoever waits gets it. */
#include "common/brief_lock.h"
#include "common/library_lock.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 20000 };

static struct sc_brief_lock lock;
static unsigned long counted; /* under the lock, and not atomic */

static void *count(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        sc_brief_lock_acquire(&lock);
        counted++;
        sc_brief_lock_release(&lock);
    }
    return NULL;
}

START_TEST(one_thread_at_a_time_has_it)
{
    pthread_t threads[THREADS];
    counted = 0;
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, count, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(counted, (unsigned long)THREADS * ROUNDS);
    ck_assert_uint_eq(atomic_load(&lock.state), 0);
}
END_TEST

static void *take_and_give(void *unused)
{
    (void)unused;
    sc_brief_lock_acquire(&lock);
    counted++;
    sc_brief_lock_release(&lock);
    return NULL;
}

/* Until all of them have looked in vain and sleep: the lock says that somebody waits. */
static void await_sleepers(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    while (atomic_load(&lock.state) != 2)
        nanosleep(&moment, NULL);
    for (int i = 0; i < 20; i++)
        nanosleep(&moment, NULL);
}

START_TEST(all_who_sleep_are_woken_one_after_the_other)
{
    pthread_t threads[THREADS];
    counted = 0;
    sc_brief_lock_acquire(&lock);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_and_give, NULL), 0);
    await_sleepers();
    ck_assert_uint_eq(counted, 0);
    sc_brief_lock_release(&lock);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(counted, THREADS);
    ck_assert_uint_eq(atomic_load(&lock.state), 0);
}
END_TEST

/* As if the mark of a thread that goes to sleep had come between the owner's load and its store. */
START_TEST(who_sleeps_unseen_finds_a_lock_that_is_free)
{
    pthread_t thread;
    counted = 0;
    sc_brief_lock_acquire(&lock);
    ck_assert_int_eq(pthread_create(&thread, NULL, take_and_give, NULL), 0);
    await_sleepers();
    sc_brief_lock_note(&lock, false);
    atomic_store(&lock.state, 0); /* and nobody is woken */
    pthread_join(thread, NULL);
    ck_assert_uint_eq(counted, 1);
    sc_brief_lock_acquire(&lock);
    sc_brief_lock_release(&lock);
    sc_library_lock_leave(); /* of the first */
    ck_assert_uint_eq(atomic_load(&lock.state), 0);
}
END_TEST

START_TEST(its_owner_is_within_a_lock_of_ours_and_errno_is_kept)
{
    errno = ENOTTY;
    ck_assert_int_eq(sc_library_lock_depth, 0);
    sc_brief_lock_acquire(&lock);
    ck_assert_int_eq(sc_library_lock_depth, 1);
    sc_brief_lock_release(&lock);
    ck_assert_int_eq(sc_library_lock_depth, 0);
    ck_assert_int_eq(errno, ENOTTY);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("brief_lock");
    TCase *group = tcase_create("brief_lock");
    tcase_add_test(group, one_thread_at_a_time_has_it);
    tcase_add_test(group, all_who_sleep_are_woken_one_after_the_other);
    tcase_add_test(group, who_sleeps_unseen_finds_a_lock_that_is_free);
    tcase_add_test(group, its_owner_is_within_a_lock_of_ours_and_errno_is_kept);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
