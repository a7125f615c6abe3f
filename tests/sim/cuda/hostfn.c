/* Host functions run on threads of their own, one for each that runs now, so that one that waits
 * for another never keeps it from starting. Idle threads are used again. */
#include "engine.h"

#include <pthread.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;
    CUstream first, last; /* streams whose first operation is a host function, by next_dependent */
    unsigned waiting;
    unsigned idle; /* threads that take the next ones, or are about to */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

static CUstream take_stream(void)
{
    pthread_mutex_lock(&pool.lock);
    while (!pool.first)
        pthread_cond_wait(&pool.work, &pool.lock);
    CUstream stream = pool.first;
    pool.first = stream->next_dependent;
    pool.waiting--;
    pool.idle--;
    pthread_mutex_unlock(&pool.lock);
    return stream;
}

static void change_idle(int by)
{
    pthread_mutex_lock(&pool.lock);
    pool.idle += (unsigned)by;
    pthread_mutex_unlock(&pool.lock);
}

static void run(const struct sim_host *host)
{
    if (atomic_load(&sim_state) != SIM_READY)
        return; /* the process is exiting: its functions may be gone */
    if (host->callback)
        host->callback(host->handle, CUDA_SUCCESS, host->arg);
    else
        host->fn(host->arg);
}

static void *host_main(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "sim-hostfn");
    sim_thread.callback = true;
    for (;;) {
        CUstream stream = take_stream();
        struct sim_op *op = stream->head; /* nobody else pops a running stream */
        run(&op->work.host);
        sim_lock();
        stream->head = op->next;
        sim_engine_publish(stream, op->seq);
        sim_op_free_locked(op);
        sim_engine_completed_locked(stream);
        sim_engine_advance_locked(stream);
        sim_unlock();
        change_idle(1);
    }
    return NULL;
}

void sim_hostfn_add_thread(void)
{
    change_idle(1);
    if (!sim_start_thread(host_main))
        change_idle(-1);
}

void sim_hostfn_submit_locked(CUstream stream)
{
    pthread_mutex_lock(&pool.lock);
    stream->next_dependent = NULL;
    if (pool.first)
        pool.last->next_dependent = stream;
    else
        pool.first = stream;
    pool.last = stream;
    pool.waiting++;
    bool more = pool.waiting > pool.idle;
    pthread_cond_signal(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    if (more)
        sim_hostfn_add_thread();
}
