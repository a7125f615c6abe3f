// expect-exit: 0
// needs: kernel (seccomp)
//
// Threads sleep on, and are woken by, objects that share their page with the target of a copy that
// was issued after they touched the object, and before the kernel does.
#include "futex_trap.h"

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

struct edge {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_rwlock_t rwlock;
    pthread_barrier_t barrier;
    pthread_once_t once;
    sem_t semaphore;
    mtx_t mtx;
    cnd_t cnd;
    struct timespec late;
    atomic_int word;
};

static struct edge *edge;
static pthread_mutex_t apart = PTHREAD_MUTEX_INITIALIZER;
static mtx_t mtx_apart;
static atomic_bool may_go;

static struct timespec after_a_minute(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_sec += 60;
    return at;
}

/* ---- mutexes: taken before the memory is registered ---- */

static void take_mutex(int protocol, int shared)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutexattr_setpshared(&attributes, shared);
    CHECK(pthread_mutex_init(&edge->mutex, &attributes));
    CHECK(pthread_mutex_lock(&edge->mutex));
    edge->late = after_a_minute(CLOCK_REALTIME);
}

static void take_plain(void)
{
    take_mutex(PTHREAD_PRIO_NONE, PTHREAD_PROCESS_PRIVATE);
}

static void take_inheriting(void)
{
    take_mutex(PTHREAD_PRIO_INHERIT, PTHREAD_PROCESS_PRIVATE);
}

static void take_shared(void)
{
    take_mutex(PTHREAD_PRIO_NONE, PTHREAD_PROCESS_SHARED);
}

static int lock(void)
{
    return pthread_mutex_lock(&edge->mutex);
}

static int timedlock(void)
{
    return pthread_mutex_timedlock(&edge->mutex, &edge->late);
}

static int clocklock(void)
{
    return pthread_mutex_clocklock(&edge->mutex, CLOCK_REALTIME, &edge->late);
}

static void unlock(void)
{
    CHECK(pthread_mutex_unlock(&edge->mutex));
}

/* ---- condition variables, with their mutex elsewhere ---- */

static void make_cond(void)
{
    CHECK(pthread_cond_init(&edge->cond, NULL));
    atomic_store(&may_go, false);
    edge->late = after_a_minute(CLOCK_REALTIME);
}

static int wait_for_it(int how)
{
    int result = 0;
    pthread_mutex_lock(&apart);
    while (result == 0 && !atomic_load(&may_go))
        result = how == 0 ? pthread_cond_wait(&edge->cond, &apart)
                 : how == 1
                     ? pthread_cond_timedwait(&edge->cond, &apart, &edge->late)
                     : pthread_cond_clockwait(&edge->cond, &apart, CLOCK_REALTIME, &edge->late);
    pthread_mutex_unlock(&apart);
    return result;
}

static int cond_wait(void)
{
    return wait_for_it(0);
}

static int cond_timedwait(void)
{
    return wait_for_it(1);
}

static int cond_clockwait(void)
{
    return wait_for_it(2);
}

static void cond_signal(void)
{
    pthread_mutex_lock(&apart);
    atomic_store(&may_go, true);
    CHECK(pthread_cond_signal(&edge->cond));
    pthread_mutex_unlock(&apart);
}

/* Waits for those who are woken. */
static void cond_destroy(void)
{
    pthread_mutex_lock(&apart);
    atomic_store(&may_go, true);
    CHECK(pthread_cond_broadcast(&edge->cond));
    pthread_mutex_unlock(&apart);
    CHECK(pthread_cond_destroy(&edge->cond));
}

/* ---- locks of readers and writers ---- */

static void take_for_writing(void)
{
    CHECK(pthread_rwlock_init(&edge->rwlock, NULL));
    CHECK(pthread_rwlock_wrlock(&edge->rwlock));
    edge->late = after_a_minute(CLOCK_REALTIME);
}

static void take_for_reading(void)
{
    CHECK(pthread_rwlock_init(&edge->rwlock, NULL));
    CHECK(pthread_rwlock_rdlock(&edge->rwlock));
    edge->late = after_a_minute(CLOCK_REALTIME);
}

static int rdlock(void)
{
    return pthread_rwlock_rdlock(&edge->rwlock);
}

static int wrlock(void)
{
    return pthread_rwlock_wrlock(&edge->rwlock);
}

static int timedrdlock(void)
{
    return pthread_rwlock_timedrdlock(&edge->rwlock, &edge->late);
}

static int timedwrlock(void)
{
    return pthread_rwlock_timedwrlock(&edge->rwlock, &edge->late);
}

static int clockrdlock(void)
{
    return pthread_rwlock_clockrdlock(&edge->rwlock, CLOCK_REALTIME, &edge->late);
}

static int clockwrlock(void)
{
    return pthread_rwlock_clockwrlock(&edge->rwlock, CLOCK_REALTIME, &edge->late);
}

static void unlock_rwlock(void)
{
    CHECK(pthread_rwlock_unlock(&edge->rwlock));
}

/* ---- semaphores, barriers, once ---- */

static void make_semaphore(void)
{
    CHECK(sem_init(&edge->semaphore, 0, 0));
    edge->late = after_a_minute(CLOCK_REALTIME);
}

static int wait_semaphore(void)
{
    return sem_wait(&edge->semaphore);
}

static int timedwait_semaphore(void)
{
    return sem_timedwait(&edge->semaphore, &edge->late);
}

static int clockwait_semaphore(void)
{
    return sem_clockwait(&edge->semaphore, CLOCK_REALTIME, &edge->late);
}

static void post(void)
{
    CHECK(sem_post(&edge->semaphore));
}

static void make_barrier(void)
{
    CHECK(pthread_barrier_init(&edge->barrier, NULL, 2));
}

static int at_barrier(void)
{
    int result = pthread_barrier_wait(&edge->barrier);
    return result == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : result;
}

static void join_barrier(void)
{
    CHECK(at_barrier());
}

static pthread_t first_one;

static void slowly(void)
{
    while (!atomic_load(&may_go))
        usleep(1000);
}

static void *do_it_once(void *unused)
{
    pthread_once(&edge->once, slowly);
    return unused;
}

static void begin_once(void)
{
    edge->once = PTHREAD_ONCE_INIT;
    atomic_store(&may_go, false);
    CHECK(pthread_create(&first_one, NULL, do_it_once, NULL));
    while (edge->once == PTHREAD_ONCE_INIT)
        usleep(1000);
}

static int once(void)
{
    return pthread_once(&edge->once, slowly);
}

static void end_once(void)
{
    atomic_store(&may_go, true);
    pthread_join(first_one, NULL);
}

/* ---- C11 ---- */

static void take_mtx(void)
{
    CHECK(mtx_init(&edge->mtx, mtx_timed) - thrd_success);
    CHECK(mtx_lock(&edge->mtx) - thrd_success);
    edge->late = after_a_minute(CLOCK_REALTIME);
}

static int lock_mtx(void)
{
    return mtx_lock(&edge->mtx) - thrd_success;
}

static int timedlock_mtx(void)
{
    return mtx_timedlock(&edge->mtx, &edge->late) - thrd_success;
}

static void unlock_mtx(void)
{
    CHECK(mtx_unlock(&edge->mtx) - thrd_success);
}

static void make_cnd(void)
{
    CHECK(cnd_init(&edge->cnd) - thrd_success);
    CHECK(mtx_init(&mtx_apart, mtx_plain) - thrd_success);
    atomic_store(&may_go, false);
    edge->late = after_a_minute(CLOCK_REALTIME);
}

static int wait_cnd(void)
{
    mtx_lock(&mtx_apart);
    while (!atomic_load(&may_go))
        CHECK(cnd_wait(&edge->cnd, &mtx_apart) - thrd_success);
    mtx_unlock(&mtx_apart);
    return 0;
}

static int timedwait_cnd(void)
{
    mtx_lock(&mtx_apart);
    while (!atomic_load(&may_go))
        CHECK(cnd_timedwait(&edge->cnd, &mtx_apart, &edge->late) - thrd_success);
    mtx_unlock(&mtx_apart);
    return 0;
}

static void signal_cnd(void)
{
    mtx_lock(&mtx_apart);
    atomic_store(&may_go, true);
    CHECK(cnd_signal(&edge->cnd) - thrd_success);
    mtx_unlock(&mtx_apart);
}

/* ---- by syscall(), as runtimes of other languages do ---- */

static void clear_word(void)
{
    edge->word = 0;
}

static int raw_wait(void)
{
    while (atomic_load(&edge->word) == 0)
        if (syscall(SYS_futex, &edge->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) == -1 &&
            errno != EAGAIN)
            return errno;
    return 0;
}

static void raw_wake(void)
{
    atomic_store(&edge->word, 1);
    CHECK(syscall(SYS_futex, &edge->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == -1);
}

/* ---- each on memory of which nothing is known ---- */

static const struct {
    const char *name;
    void (*prepare)(void); /* before the memory is registered */
    int (*sleep)(void);    /* in a thread */
    void (*wake)(void);
} cases[] = {
    {"lock", take_plain, lock, unlock},
    {"timedlock", take_plain, timedlock, unlock},
    {"clocklock", take_plain, clocklock, unlock},
    {"lock, inheriting", take_inheriting, lock, unlock},
    {"timedlock, inheriting", take_inheriting, timedlock, unlock},
    {"lock, shared", take_shared, lock, unlock},
    {"cond_wait", make_cond, cond_wait, cond_signal},
    {"cond_timedwait", make_cond, cond_timedwait, cond_signal},
    {"cond_clockwait", make_cond, cond_clockwait, cond_signal},
    {"cond_destroy", make_cond, cond_wait, cond_destroy},
    {"rdlock", take_for_writing, rdlock, unlock_rwlock},
    {"wrlock", take_for_reading, wrlock, unlock_rwlock},
    {"timedrdlock", take_for_writing, timedrdlock, unlock_rwlock},
    {"timedwrlock", take_for_writing, timedwrlock, unlock_rwlock},
    {"clockrdlock", take_for_writing, clockrdlock, unlock_rwlock},
    {"clockwrlock", take_for_reading, clockwrlock, unlock_rwlock},
    {"sem_wait", make_semaphore, wait_semaphore, post},
    {"sem_timedwait", make_semaphore, timedwait_semaphore, post},
    {"sem_clockwait", make_semaphore, clockwait_semaphore, post},
    {"barrier", make_barrier, at_barrier, join_barrier},
    {"once", begin_once, once, end_once},
    {"mtx_lock", take_mtx, lock_mtx, unlock_mtx},
    {"mtx_timedlock", take_mtx, timedlock_mtx, unlock_mtx},
    {"cnd_wait", make_cnd, wait_cnd, signal_cnd},
    {"cnd_timedwait", make_cnd, timedwait_cnd, signal_cnd},
    {"futex", clear_word, raw_wait, raw_wake},
};

static void *sleeper(void *sleep)
{
    return (void *)(intptr_t)(*(int (*const *)(void))sleep)();
}

int main(int count, char **names)
{
    trap_start(aligned_alloc(PAGE, BLOCK));
    edge = (struct edge *)trap.block;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pthread_t thread;
        void *result;
        if (count > 1 && strcmp(names[1], cases[i].name) != 0)
            continue;
        memset(edge, 0, sizeof *edge);
        cases[i].prepare();
        trap_arm();
        CHECK(pthread_create(&thread, NULL, sleeper, (void *)(uintptr_t)&cases[i].sleep));
        trap_await_stop();
        cases[i].wake();
        CHECK(pthread_join(thread, &result));
        trap_disarm();
        printf("%s -> %ld\n", cases[i].name, (long)(intptr_t)result);
        fflush(stdout);
    }
    return 0;
}
