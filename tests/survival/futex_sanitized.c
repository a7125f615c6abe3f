// expect-exit: 0
// cflags: -fsanitize=thread
// needs: kernel (libtsan)
//
// A program with the thread sanitizer, which stands before and behind us at once: it sees every
// lock and every wait, and finds no fault.
#include "survival.h"

#include <pthread.h>
#include <semaphore.h>

enum { ROUNDS = 500, THREADS = 4 };

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_rwlock_t rwlock;
    sem_t semaphore;
    long waiting, taken, written;
};

static struct shared *shared;

static void *produce(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&shared->mutex);
        shared->waiting++;
        pthread_cond_signal(&shared->cond);
        pthread_mutex_unlock(&shared->mutex);
        pthread_rwlock_wrlock(&shared->rwlock);
        shared->written++;
        pthread_rwlock_unlock(&shared->rwlock);
        sem_post(&shared->semaphore);
    }
    return unused;
}

static void *consume(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&shared->mutex);
        while (shared->waiting == 0)
            pthread_cond_wait(&shared->cond, &shared->mutex);
        shared->waiting--;
        shared->taken++;
        pthread_mutex_unlock(&shared->mutex);
        pthread_rwlock_rdlock(&shared->rwlock);
        if (shared->written < 0)
            abort();
        pthread_rwlock_unlock(&shared->rwlock);
        sem_wait(&shared->semaphore);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    CHECK(cudaMallocHost((void **)&shared, 64 << 10));
    CHECK(pthread_mutex_init(&shared->mutex, NULL));
    CHECK(pthread_cond_init(&shared->cond, NULL));
    CHECK(pthread_rwlock_init(&shared->rwlock, NULL));
    CHECK(sem_init(&shared->semaphore, 0, 0));
    shared->waiting = shared->taken = shared->written = 0;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, i % 2 ? consume : produce, NULL));
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL));
    SHOW(shared->taken);
    SHOW(shared->written);
    CHECK(cudaFreeHost(shared));
    return 0;
}
