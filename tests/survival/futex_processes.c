// expect-exit: 0
// needs: kernel (seccomp)
//
// Another process sleeps on objects in shared memory, and this one, where they share their page
// with the target of a copy in flight, is the only one of its threads that ever uses them: it
// wakes.
#include "futex_trap.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct edge {
    pthread_mutex_t mutex, guarding;
    pthread_cond_t cond;
    pthread_rwlock_t rwlock;
    pthread_barrier_t barrier;
    sem_t semaphore;
    bool may_go;
};

static struct edge *edge;

static void make_mutex(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    CHECK(pthread_mutex_init(mutex, &attributes));
}

static void make_all(void)
{
    pthread_condattr_t cond;
    pthread_rwlockattr_t rwlock;
    pthread_barrierattr_t barrier;
    memset(edge, 0, sizeof *edge);
    make_mutex(&edge->mutex);
    make_mutex(&edge->guarding);
    pthread_condattr_init(&cond);
    pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
    CHECK(pthread_cond_init(&edge->cond, &cond));
    pthread_rwlockattr_init(&rwlock);
    pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED);
    CHECK(pthread_rwlock_init(&edge->rwlock, &rwlock));
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    CHECK(pthread_barrier_init(&edge->barrier, &barrier, 2));
    CHECK(sem_init(&edge->semaphore, 1, 0));
}

/* ---- this process: before the other sleeps, and then ---- */

static void nothing(void)
{
}

static void trylock(void)
{
    CHECK(pthread_mutex_trylock(&edge->mutex));
}

static void unlock(void)
{
    CHECK(pthread_mutex_unlock(&edge->mutex));
}

static void tryrdlock(void)
{
    CHECK(pthread_rwlock_tryrdlock(&edge->rwlock));
}

static void trywrlock(void)
{
    CHECK(pthread_rwlock_trywrlock(&edge->rwlock));
}

static void unlock_rwlock(void)
{
    CHECK(pthread_rwlock_unlock(&edge->rwlock));
}

static void cond_signal(void)
{
    edge->may_go = true;
    CHECK(pthread_cond_signal(&edge->cond));
}

static void cond_broadcast(void)
{
    edge->may_go = true;
    CHECK(pthread_cond_broadcast(&edge->cond));
}

static void post(void)
{
    CHECK(sem_post(&edge->semaphore));
}

static void at_barrier(void)
{
    int result = pthread_barrier_wait(&edge->barrier);
    CHECK(result == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : result);
}

/* ---- the other one ---- */

static void lock(void)
{
    CHECK(pthread_mutex_lock(&edge->mutex));
}

static void wait_for_signal(void)
{
    CHECK(pthread_mutex_lock(&edge->guarding));
    while (!edge->may_go)
        CHECK(pthread_cond_wait(&edge->cond, &edge->guarding));
    CHECK(pthread_mutex_unlock(&edge->guarding));
}

static void rdlock(void)
{
    CHECK(pthread_rwlock_rdlock(&edge->rwlock));
}

static void wrlock(void)
{
    CHECK(pthread_rwlock_wrlock(&edge->rwlock));
}

static void wait_semaphore(void)
{
    CHECK(sem_wait(&edge->semaphore));
}

static const struct {
    const char *name;
    void (*first)(void), (*sleep)(void), (*wake)(void);
} cases[] = {
    {"trylock and unlock", trylock, lock, unlock},
    {"tryrdlock and unlock", tryrdlock, wrlock, unlock_rwlock},
    {"trywrlock and unlock", trywrlock, rdlock, unlock_rwlock},
    {"cond_signal", nothing, wait_for_signal, cond_signal},
    {"cond_broadcast", nothing, wait_for_signal, cond_broadcast},
    {"sem_post", nothing, wait_semaphore, post},
    {"barrier_wait", nothing, at_barrier, at_barrier},
};

static int orders[2], answers[2];

static pid_t start_other(void)
{
    CHECK(pipe(orders));
    CHECK(pipe(answers));
    pid_t other = fork();
    if (other != 0)
        return other;
    close(orders[1]);
    for (unsigned char i; read(orders[0], &i, 1) == 1;) {
        cases[i].sleep();
        CHECK(write(answers[1], &i, 1) - 1);
    }
    _exit(0);
}

static bool has_answered(void)
{
    unsigned char i;
    struct pollfd end = {.fd = answers[0], .events = POLLIN};
    return poll(&end, 1, 20000) == 1 && read(answers[0], &i, 1) == 1;
}

/* The pause lets the other one get to sleep; if it is late, the test is merely easier. */
static void show(unsigned char i)
{
    make_all();
    trap_arm();
    cases[i].first();
    CHECK(write(orders[1], &i, 1) - 1);
    usleep(50000);
    cases[i].wake();
    bool woken = has_answered();
    printf("%s: %s\n", cases[i].name, woken ? "woken" : "asleep");
    fflush(stdout);
    trap_disarm();
    if (!woken)
        _exit(4);
}

int main(void)
{
    void *block = mmap(NULL, 2 * BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    edge = (struct edge *)block;
    pid_t other = start_other();
    trap_start(block);
    for (unsigned char i = 0; i < sizeof cases / sizeof cases[0]; i++)
        show(i);
    close(orders[1]);
    SHOW(waitpid(other, NULL, 0) == other);
    return 0;
}
