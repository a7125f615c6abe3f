/* links: interpose/base/spare_stack.c interpose/base/process.c
 *
 * Whoever waits for a lock of the library's with signals blocked, or at the end of the process, has
 * a way out: the thread that has the lock may be stopped until the waiting one takes a signal.
 */
#include "interpose/base/spare_stack.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "common/brief_lock.h"
#include "common/library_lock.h"
#include "common/mutex.h"
#include "interpose/base/thread_stack.h"

static struct sc_brief_lock brief, outer;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned begun, ended, undone, signals;

bool sc_thread_stack_has_room(size_t size_bytes)
{
    (void)size_bytes;
    return true;
}

static void note(int number)
{
    (void)number;
    signals++;
}

static void setup(void)
{
    begun = ended = undone = signals = 0;
    signal(SIGUSR1, note);
    sc_spare_stack_start();
}

/* As if another thread had it: nobody will give it back. */
static void have_taken(struct sc_brief_lock *lock)
{
    atomic_store(&lock->state, 1);
}

static void use_brief(void *unused)
{
    (void)unused;
    begun++;
    sc_brief_lock_acquire(&brief);
    sc_brief_lock_release(&brief);
    ended++;
}

static void send_and_use(void *unused)
{
    raise(SIGUSR1); /* blocked here */
    use_brief(unused);
}

START_TEST(a_pending_signal_ends_the_wait_for_a_lock)
{
    have_taken(&brief);
    ck_assert(!sc_spare_stack_try(send_and_use, NULL, NULL));
    ck_assert_uint_eq(begun, 1);
    ck_assert_uint_eq(ended, 0);
    ck_assert_uint_eq(signals, 1);
    ck_assert_int_eq(sc_library_lock_depth, 0);
    ck_assert(!sc_spare_stack_is_current());
    atomic_store(&brief.state, 0);
    ck_assert(sc_spare_stack_try(use_brief, NULL, NULL));
    ck_assert_uint_eq(ended, 1);
}
END_TEST

static void send_and_use_mutex(void *unused)
{
    (void)unused;
    raise(SIGUSR1);
    sc_library_lock_acquire(&mutex);
    sc_library_lock_release(&mutex);
    ended++;
}

static void *take_mutex(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    return NULL;
}

START_TEST(and_the_wait_for_a_mutex)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, take_mutex, NULL), 0);
    pthread_join(thread, NULL);
    ck_assert(!sc_spare_stack_try(send_and_use_mutex, NULL, NULL));
    ck_assert_uint_eq(ended, 0);
    ck_assert_int_eq(sc_library_lock_depth, 0);
    pthread_mutex_unlock(&mutex);
    ck_assert(sc_spare_stack_try(send_and_use_mutex, NULL, NULL));
}
END_TEST

static void *give_later(void *unused)
{
    const struct timespec later = {.tv_nsec = 50 * 1000 * 1000};
    (void)unused;
    nanosleep(&later, NULL);
    atomic_store(&brief.state, 0); /* and wakes nobody: who waits looks by itself */
    return NULL;
}

/* A signal that is blocked outside as well would not come if the wait was left. */
START_TEST(a_signal_that_stays_blocked_does_not)
{
    pthread_t thread;
    const uint64_t all = ~UINT64_C(0);
    have_taken(&brief);
    ck_assert_int_eq(pthread_create(&thread, NULL, give_later, NULL), 0);
    ck_assert(sc_spare_stack_try(send_and_use, NULL, &all));
    ck_assert_uint_eq(ended, 1);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_call_is_repeated_until_the_lock_is_had)
{
    pthread_t thread;
    have_taken(&brief);
    ck_assert_int_eq(pthread_create(&thread, NULL, give_later, NULL), 0);
    sc_spare_stack_repeat(send_and_use, NULL);
    ck_assert_uint_ge(signals, 2);
    ck_assert_uint_eq(begun, signals);
    ck_assert_uint_eq(ended, 1);
    pthread_join(thread, NULL);
}
END_TEST

static void undo(void *lock)
{
    ck_assert_ptr_eq(lock, &undone);
    undone++;
    sc_brief_lock_release(&outer);
}

static void use_both(void *unused)
{
    sc_brief_lock_acquire(&outer);
    sc_spare_stack_undo_by(undo, &undone);
    send_and_use(unused);
    sc_spare_stack_undo_by(NULL, NULL);
    sc_brief_lock_release(&outer);
}

START_TEST(a_lock_that_is_held_meanwhile_is_given_back)
{
    have_taken(&brief);
    ck_assert(!sc_spare_stack_try(use_both, NULL, NULL));
    ck_assert_uint_eq(undone, 1);
    ck_assert_int_eq(sc_library_lock_depth, 0);
    ck_assert_uint_eq(atomic_load(&outer.state), 0);
    atomic_store(&brief.state, 0);
    ck_assert(sc_spare_stack_try(use_both, NULL, NULL));
    ck_assert_uint_eq(undone, 1);
}
END_TEST

static void use_within_mutex(void *unused)
{
    sc_mutex_lock(&mutex);
    send_and_use(unused);
    sc_mutex_unlock(&mutex);
}

/* Nobody would unlock the mutex. */
START_TEST(a_wait_within_a_mutex_is_not_left)
{
    pthread_t thread;
    have_taken(&brief);
    ck_assert_int_eq(pthread_create(&thread, NULL, give_later, NULL), 0);
    ck_assert(sc_spare_stack_try(use_within_mutex, NULL, NULL));
    ck_assert_uint_eq(ended, 1);
    ck_assert_int_eq(sc_mutex_depth, 0);
    ck_assert_int_eq(pthread_mutex_trylock(&mutex), 0);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}
END_TEST

static void hold_and_use(void *unused)
{
    sc_brief_lock_acquire(&outer);
    sc_spare_stack_repeat(use_brief, unused);
    sc_brief_lock_release(&outer);
}

/* On its own stack and on one of ours. */
START_TEST(the_last_calls_of_a_process_end)
{
    have_taken(&brief);
    sc_spare_stack_call_last(use_brief, NULL);
    ck_assert_uint_eq(begun, 1);
    sc_spare_stack_call_last(hold_and_use, NULL);
    ck_assert_uint_eq(begun, 2);
    ck_assert_uint_eq(ended, 0);
    ck_assert_int_eq(sc_library_lock_depth, 0);
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    ck_assert(!sigismember(&mask, SIGUSR1));
    atomic_store(&brief.state, 0);
    sc_spare_stack_call_last(use_brief, NULL);
    ck_assert_uint_eq(ended, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock_waits");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, a_pending_signal_ends_the_wait_for_a_lock);
    tcase_add_test(tcase, and_the_wait_for_a_mutex);
    tcase_add_test(tcase, a_signal_that_stays_blocked_does_not);
    tcase_add_test(tcase, a_call_is_repeated_until_the_lock_is_had);
    tcase_add_test(tcase, a_lock_that_is_held_meanwhile_is_given_back);
    tcase_add_test(tcase, a_wait_within_a_mutex_is_not_left);
    tcase_add_test(tcase, the_last_calls_of_a_process_end);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
