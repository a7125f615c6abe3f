/* The device thread: a heap of streams by the time their first operation may start. */
#include "engine.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BATCH 16
#define LEAST_POLL_NS 20000
#define MOST_POLL_NS 500000
#define IDLE_SPINS 400

static struct {
    CUstream *heap;
    unsigned count, capacity;
    bool started, asleep;
    uint64_t asleep_until;
    _Atomic uint32_t kicks;
    _Atomic bool spinning, stop, stopped;
} engine;

void sim_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t until_ns)
{
    struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value,
            until_ns == UINT64_MAX ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY);
    errno = saved; /* a word that has changed by now is no failure */
}

void sim_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void heap_put(unsigned i, CUstream stream)
{
    engine.heap[i] = stream;
    stream->heap_index = i;
}

static void heap_up(unsigned i, CUstream stream)
{
    for (; i > 0 && engine.heap[(i - 1) / 2]->ready_ns > stream->ready_ns; i = (i - 1) / 2)
        heap_put(i, engine.heap[(i - 1) / 2]);
    heap_put(i, stream);
}

static void heap_remove_locked(CUstream stream)
{
    unsigned i = stream->heap_index;
    CUstream last = engine.heap[--engine.count];
    if (last == stream)
        return;
    for (;;) {
        unsigned child = 2 * i + 1;
        if (child + 1 < engine.count &&
            engine.heap[child + 1]->ready_ns < engine.heap[child]->ready_ns)
            child++;
        if (child >= engine.count || engine.heap[child]->ready_ns >= last->ready_ns)
            break;
        heap_put(i, engine.heap[child]);
        i = child;
    }
    heap_up(i, last);
}

static void *engine_main(void *unused);

bool sim_start_thread(void *(*main)(void *))
{
    sigset_t all, old;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, NULL, &old);
    if (sigismember(&old, SIGSEGV) != 1)
        sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool started = pthread_create(&thread, NULL, main, NULL) == 0;
    if (started)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

bool sim_engine_start_locked(void)
{
    if (engine.started)
        return true;
    engine.started = sim_start_thread(engine_main);
    if (engine.started)
        sim_hostfn_add_thread();
    return engine.started;
}

static void kick_locked(uint64_t ready_ns)
{
    if (engine.asleep && ready_ns < engine.asleep_until) {
        engine.asleep = false;
        atomic_fetch_add(&engine.kicks, 1);
        if (!atomic_load(&engine.spinning))
            sim_futex_wake(&engine.kicks);
    }
}

static void schedule_locked(CUstream stream, uint64_t ready_ns)
{
    if (engine.count == engine.capacity) {
        unsigned capacity = engine.capacity ? 2 * engine.capacity : 64;
        CUstream *heap = realloc(engine.heap, capacity * sizeof *heap);
        if (!heap) {
            fputs("simulated GPU: no memory for its queue\n", stderr);
            abort();
        }
        engine.heap = heap;
        engine.capacity = capacity;
    }
    stream->state = STREAM_TIMED;
    stream->ready_ns = ready_ns;
    heap_up(engine.count++, stream);
    kick_locked(ready_ns);
}

static uint64_t ready_ns(CUstream stream, const struct sim_op *op)
{
    if (sim_options.late && op->seq > stream->forced && op->limit_ns > op->due_ns)
        return op->limit_ns;
    return op->due_ns;
}

static bool fences_reached_locked(struct sim_op *op)
{
    while (op->fence_count > 0) {
        struct sim_fence *fence = &op->fences[op->fence_count - 1];
        if (!sim_stream_reached(fence->stream, fence->seq))
            return false;
        op->fence_count--;
        sim_stream_unref_locked(fence->stream);
    }
    return true;
}

static void block_locked(CUstream stream, struct sim_fence on)
{
    stream->state = STREAM_BLOCKED;
    stream->blocked_on = on;
    stream->next_dependent = on.stream->dependents;
    if (!on.stream->dependents || on.seq < on.stream->dependents_least)
        on.stream->dependents_least = on.seq;
    on.stream->dependents = stream;
}

/* Finds out what the stream's first operation waits for. The stream is in nobody's hands. */
void sim_engine_advance_locked(CUstream stream)
{
    struct sim_op *op = stream->head;
    if (!op) {
        stream->state = STREAM_IDLE;
        sim_stream_unref_locked(stream);
    } else if (!fences_reached_locked(op)) {
        block_locked(stream, op->fences[op->fence_count - 1]);
    } else {
        schedule_locked(stream, ready_ns(stream, op));
    }
}

/* Lets go on what waited for this stream; `done` has moved. */
void sim_engine_completed_locked(CUstream stream)
{
    CUstream waiting = stream->dependents;
    if (!waiting || !sim_stream_reached(stream, stream->dependents_least))
        return;
    stream->dependents = NULL;
    while (waiting) {
        CUstream next = waiting->next_dependent;
        sim_engine_advance_locked(waiting);
        waiting = next;
    }
}

void sim_engine_publish(CUstream stream, uint64_t seq)
{
    atomic_store(&stream->done, seq);
    if (atomic_load(&stream->waiters) > 0) {
        atomic_fetch_add(&stream->epoch, 1);
        sim_futex_wake(&stream->epoch);
    }
}

/* Whether the operation may run right behind the one before it, without a look at the heap. */
static bool runs_on_locked(CUstream stream, struct sim_op *op, uint64_t now)
{
    return op->work.kind <= WORK_WRITE_VALUE && op->busy_ns == 0 && ready_ns(stream, op) <= now &&
           fences_reached_locked(op);
}

static void run_batch_locked(CUstream stream, uint64_t now)
{
    struct sim_op *batch[BATCH], *op = stream->head;
    unsigned count = 0;
    do {
        batch[count++] = op;
        op = op->next;
    } while (op && count < BATCH && runs_on_locked(stream, op, now));
    stream->head = op;
    stream->state = STREAM_RUNNING;
    sim_unlock();
    for (unsigned i = 0; i < count; i++) {
        sim_activity_started(batch[i]);
        sim_work_run(&batch[i]->work);
        sim_engine_publish(stream, batch[i]->seq);
        sim_activity_done(batch[i]);
    }
    sim_lock();
    for (unsigned i = 0; i < count; i++)
        sim_op_free_locked(batch[i]);
    sim_engine_completed_locked(stream);
    sim_engine_advance_locked(stream);
}

/* Nobody says when a value is written that a stream waits for, so it is looked at again and again:
 * an eighth of the time that it has waited later than before. */
static void look_later_locked(CUstream stream, struct sim_op *op)
{
    uint64_t now = sim_now_ns();
    if (!op->waiting_ns)
        op->waiting_ns = now;
    uint64_t step_ns = (now - op->waiting_ns) / 8;
    step_ns = step_ns < LEAST_POLL_NS ? LEAST_POLL_NS : step_ns;
    schedule_locked(stream, now + (step_ns < MOST_POLL_NS ? step_ns : MOST_POLL_NS));
}

static void run_locked(CUstream stream, uint64_t now)
{
    struct sim_op *op = stream->head;
    if (op->work.kind == WORK_HOST) {
        stream->state = STREAM_RUNNING;
        sim_hostfn_submit_locked(stream);
    } else if ((op->work.kind == WORK_WAIT_VALUE && !sim_work_value_reached(&op->work.value)) ||
               (op->work.kind == WORK_KERNEL_SERVE && !sim_work_served(&op->work.serve))) {
        look_later_locked(stream, op);
    } else if (op->busy_ns > 0 && !op->started) {
        op->started = true;
        sim_activity_started(op);
        schedule_locked(stream, sim_now_ns() + op->busy_ns);
    } else {
        run_batch_locked(stream, now);
    }
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void sleep_locked(uint64_t until_ns)
{
    engine.asleep = true;
    engine.asleep_until = until_ns;
    uint32_t seen = atomic_load(&engine.kicks);
    /* A program that issues copy after copy finds the device awake and pays no system call. */
    bool spin = sim_options.delay_ns == 0 && !sim_options.late && until_ns == UINT64_MAX;
    atomic_store(&engine.spinning, spin);
    sim_unlock();
    for (unsigned i = 0; spin && i < IDLE_SPINS && atomic_load(&engine.kicks) == seen; i++)
        pause_briefly();
    atomic_store(&engine.spinning, false);
    sim_futex_wait(&engine.kicks, seen, until_ns);
    sim_lock();
    engine.asleep = false;
}

static void *engine_main(void *unused)
{
    (void)unused;
    void *volatile warm = malloc(1); /* the thread's arena appears now, and not at some free() */
    free(warm);
    pthread_setname_np(pthread_self(), "sim-gpu");
    prctl(PR_SET_TIMERSLACK, 1000UL);
    sim_lock();
    while (!atomic_load(&engine.stop)) {
        CUstream first = engine.count ? engine.heap[0] : NULL;
        uint64_t now = first && first->ready_ns ? sim_now_ns() : 0;
        if (!first || first->ready_ns > now) {
            sleep_locked(first ? first->ready_ns : UINT64_MAX);
        } else {
            heap_remove_locked(first);
            run_locked(first, now);
        }
    }
    atomic_store(&engine.stopped, true);
    sim_unlock();
    for (;;)
        pause();
    return NULL;
}

void sim_engine_stop(void)
{
    struct timespec moment = {0, 100 * 1000};
    sim_lock();
    bool started = engine.started;
    sim_unlock();
    atomic_store(&engine.stop, true);
    atomic_fetch_add(&engine.kicks, 1);
    sim_futex_wake(&engine.kicks);
    for (int i = 0; started && !atomic_load(&engine.stopped) && i < 1000; i++)
        nanosleep(&moment, NULL);
}

/* late=1: wakes up a stream whose first operation has just been forced. */
static void rekey_locked(CUstream stream)
{
    if (stream->state == STREAM_TIMED && !stream->head->started) {
        heap_remove_locked(stream);
        schedule_locked(stream, ready_ns(stream, stream->head));
    }
}

void sim_stream_force_locked(CUstream stream, uint64_t seq)
{
    struct sim_fence *todo = NULL, item = {stream, seq};
    size_t count = 0, room = 0;
    if (!sim_options.late)
        return;
    for (;;) {
        CUstream s = item.stream;
        uint64_t old = s->forced;
        if (item.seq > old) {
            s->forced = item.seq;
            for (struct sim_op *op = s->head; op && op->seq <= item.seq; op = op->next) {
                for (uint32_t i = 0; op->seq > old && i < op->fence_count; i++) {
                    if (count == room) {
                        size_t more = room ? 2 * room : 32;
                        struct sim_fence *grown = realloc(todo, more * sizeof *todo);
                        if (!grown)
                            break; /* late_limit will start it */
                        todo = grown;
                        room = more;
                    }
                    todo[count++] = op->fences[i];
                }
            }
            rekey_locked(s);
        }
        if (count == 0)
            break;
        item = todo[--count];
    }
    free(todo);
}
