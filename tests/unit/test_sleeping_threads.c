/* links: interpose/base/sleeping_threads.c
 *
 * What a thread sleeps for: each way to sleep on a thread of its own, which is looked at until it
 * is asleep. Time is real, and no test depends on how much of it passes.
 */
#include "interpose/base/sleeping_threads.h"

#include <check.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS_MAX = 20000, LONG_MS = 100000 };

static int readable, epoll;
static sem_t semaphore;
static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock;
static uint32_t word;
static _Atomic pthread_t joined;
static _Atomic int32_t thread;
static const struct timespec long_time = {LONG_MS / 1000, 0};

/* Under valgrind, whose threads sleep for its own lock, a sleep does not tell as much. */
static enum sc_sleep for_own(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "/vgpreload_") ? SC_SLEEPS : SC_SLEEPS_FOR_OWN;
}

static int32_t own_id(void)
{
    return (int32_t)syscall(SYS_gettid);
}

/* ---- ways to sleep ---- */

static void in_semaphore(void)
{
    sem_wait(&semaphore);
}

static void in_mutex(void)
{
    pthread_mutex_lock(&mutex);
}

static void in_reader_lock(void)
{
    pthread_rwlock_rdlock(&rwlock);
}

static void in_writer_lock(void)
{
    pthread_rwlock_wrlock(&rwlock);
}

static void in_timed_futex(void)
{
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &long_time, NULL, 0);
}

static void in_join(void)
{
    pthread_join(atomic_load(&joined), NULL);
}

static void in_read(void)
{
    uint64_t bytes;
    if (read(readable, &bytes, sizeof bytes) < 0)
        pause();
}

static void in_receive(void)
{
    uint64_t bytes;
    recv(readable, &bytes, sizeof bytes, 0);
}

static void in_poll_for(int milliseconds)
{
    struct pollfd polled = {.fd = readable, .events = POLLIN};
    poll(&polled, 1, milliseconds);
}

static void in_poll(void)
{
    in_poll_for(-1);
}

static void in_timed_poll(void)
{
    in_poll_for(LONG_MS);
}

static void in_select(void)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(readable, &set);
    select(readable + 1, &set, NULL, NULL, NULL);
}

static void in_epoll(void)
{
    struct epoll_event event;
    epoll_wait(epoll, &event, 1, -1);
}

static void in_sigwait(void)
{
    sigset_t set;
    int signal;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigwait(&set, &signal);
}

static void in_file_lock(void)
{
    flock(readable, LOCK_EX);
}

static void in_nanosleep(void)
{
    nanosleep(&long_time, NULL);
}

static void at_work(void)
{
    for (;;)
        atomic_signal_fence(memory_order_seq_cst);
}

/* ---- looking at them ---- */

static void *sleep_so(void *way)
{
    atomic_store(&thread, own_id());
    (*(void (**)(void))way)();
    return NULL;
}

/* The thread is left asleep: each test is a process. */
static void start(void (*way)(void))
{
    static void (*ways[4])(void);
    static unsigned count;
    pthread_t started;
    ways[count] = way;
    atomic_store(&thread, 0);
    ck_assert_int_eq(pthread_create(&started, NULL, sleep_so, &ways[count++]), 0);
    while (!atomic_load(&thread))
        usleep(100);
    atomic_store(&joined, started);
}

static enum sc_sleep sleep_of(void (*way)(void))
{
    enum sc_sleep sleep = SC_AWAKE;
    start(way);
    for (unsigned i = 0; i < LOOKS_MAX && sleep == SC_AWAKE; i++) {
        sleep = sc_sleeping_threads_check(atomic_load(&thread), own_id());
        usleep(100);
    }
    return sleep;
}

static bool stays_awake(void (*way)(void))
{
    bool is_awake = true;
    start(way);
    for (unsigned i = 0; i < 200; i++) {
        is_awake &= sc_sleeping_threads_check(atomic_load(&thread), own_id()) == SC_AWAKE;
        usleep(100);
    }
    return is_awake;
}

START_TEST(whoever_sleeps_for_a_time_or_works_is_awake)
{
    ck_assert(stays_awake(in_nanosleep));
    ck_assert(stays_awake(at_work));
    ck_assert_int_eq(sc_sleeping_threads_check(0, 0), SC_AWAKE);
}
END_TEST

START_TEST(a_semaphore_says_not_who_posts_it)
{
    sem_init(&semaphore, 0, 0);
    ck_assert_int_eq(sleep_of(in_semaphore), SC_SLEEPS);
}
END_TEST

START_TEST(a_time_limit_may_end_it)
{
    readable = eventfd(0, 0);
    ck_assert_int_eq(sleep_of(in_timed_futex), SC_SLEEPS);
    ck_assert_int_eq(sleep_of(in_timed_poll), SC_SLEEPS);
}
END_TEST

/* 0: plain, 1: robust, 2: with priority inheritance. */
static void make_mutex(int kind)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (kind == 1)
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    if (kind == 2)
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    ck_assert_int_eq(pthread_mutex_init(&mutex, &attributes), 0);
}

START_TEST(a_mutex_that_the_waiter_holds)
{
    make_mutex(_i);
    pthread_mutex_lock(&mutex);
    ck_assert_int_eq(sleep_of(in_mutex), for_own());
    ck_assert_int_eq(sc_sleeping_threads_check(atomic_load(&thread), atomic_load(&thread)),
                     SC_SLEEPS);
}
END_TEST

START_TEST(a_lock_that_the_waiter_holds_for_writing)
{
    pthread_rwlock_init(&rwlock, NULL);
    pthread_rwlock_wrlock(&rwlock);
    ck_assert_int_eq(sleep_of(_i ? in_writer_lock : in_reader_lock), for_own());
}
END_TEST

START_TEST(a_thread_that_is_joined)
{
    start(in_nanosleep);
    ck_assert_int_eq(sleep_of(in_join), for_own());
}
END_TEST

START_TEST(a_thread_that_is_joined_from_a_thread_that_is_joined)
{
    sem_init(&semaphore, 0, 0);
    start(in_semaphore);
    start(in_join);
    ck_assert_int_eq(sleep_of(in_join), for_own());
}
END_TEST

static int pipe_end(bool is_own)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    if (is_own)
        return ends[0];
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(ends[0]);
        pause();
    }
    close(ends[1]);
    return ends[0];
}

static int socket_end(void)
{
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    return ends[0];
}

START_TEST(what_only_own_threads_write)
{
    readable = _i == 0 ? pipe_end(true) : _i == 1 ? eventfd(0, 0) : socket_end();
    ck_assert_int_eq(sleep_of(in_read), for_own());
    ck_assert_int_eq(sleep_of(in_poll), for_own());
    ck_assert_int_eq(sleep_of(in_select), for_own());
    if (_i == 2)
        ck_assert_int_eq(sleep_of(in_receive), for_own());
}
END_TEST

START_TEST(what_others_write)
{
    readable = _i == 0 ? pipe_end(false) : timerfd_create(CLOCK_MONOTONIC, 0);
    ck_assert_int_eq(sleep_of(in_read), SC_SLEEPS);
    ck_assert_int_eq(sleep_of(in_poll), SC_SLEEPS);
    ck_assert_int_eq(sleep_of(in_select), SC_SLEEPS);
}
END_TEST

START_TEST(one_of_many)
{
    struct epoll_event event = {.events = EPOLLIN};
    int others = pipe_end(false);
    epoll = epoll_create1(0);
    ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, others, &event), 0);
    ck_assert_int_eq(sleep_of(in_epoll), SC_SLEEPS);
    ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, eventfd(0, 0), &event), 0);
    ck_assert_int_eq(sleep_of(in_epoll), for_own());
}
END_TEST

START_TEST(a_signal)
{
    ck_assert_int_eq(sleep_of(in_sigwait), for_own());
}
END_TEST

START_TEST(a_lock_of_a_file)
{
    char path[] = "/tmp/test_sleeping_threads.XXXXXX";
    int first = mkstemp(path);
    readable = open(path, O_RDWR);
    unlink(path);
    ck_assert_int_eq(flock(first, LOCK_EX), 0);
    ck_assert_int_eq(sleep_of(in_file_lock), SC_SLEEPS);
}
END_TEST

static Suite *all_tests(void)
{
    Suite *suite = suite_create("sleeping threads");
    TCase *tests = tcase_create("sleeping threads");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, whoever_sleeps_for_a_time_or_works_is_awake);
    tcase_add_test(tests, a_semaphore_says_not_who_posts_it);
    tcase_add_test(tests, a_time_limit_may_end_it);
    tcase_add_loop_test(tests, a_mutex_that_the_waiter_holds, 0, 3);
    tcase_add_loop_test(tests, a_lock_that_the_waiter_holds_for_writing, 0, 2);
    tcase_add_test(tests, a_thread_that_is_joined);
    tcase_add_test(tests, a_thread_that_is_joined_from_a_thread_that_is_joined);
    tcase_add_loop_test(tests, what_only_own_threads_write, 0, 3);
    tcase_add_loop_test(tests, what_others_write, 0, 2);
    tcase_add_test(tests, one_of_many);
    tcase_add_test(tests, a_signal);
    tcase_add_test(tests, a_lock_of_a_file);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(all_tests());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
