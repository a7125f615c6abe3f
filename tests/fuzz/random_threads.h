/* Threads take turns, so that the order of calls is the program's own. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_THREADS_H
#define SC_TESTS_FUZZ_RANDOM_THREADS_H

/* ---- threads take turns ---- */

static struct {
    CUcontext context;
    bool over;
    void (*action)(void);
    sem_t turn[THREADS], done;
    pthread_t threads[THREADS];
} baton;

static void *live(void *argument)
{
    sem_t *turn = argument;
    CHECK(cuCtxSetCurrent(baton.context));
    for (wait_for(turn); !baton.over; wait_for(turn)) {
        baton.action();
        sem_post(&baton.done);
    }
    return NULL;
}

/* The main thread is number 0, and the only one that gives turns to others. */
static void run_on(int thread, void (*action)(void))
{
    int before = world.thread;
    if (thread == before) {
        action();
        return;
    }
    world.thread = thread;
    baton.action = action;
    sem_post(&baton.turn[thread]);
    wait_for(&baton.done);
    world.thread = before;
}

static void start_threads(void)
{
    sem_init(&baton.done, 0, 0);
    for (int i = 1; i < THREADS; i++) {
        sem_init(&baton.turn[i], 0, 0);
        pthread_create(&baton.threads[i], NULL, live, &baton.turn[i]);
    }
}

static void end_threads(void)
{
    baton.over = true;
    for (int i = 1; i < THREADS; i++) {
        sem_post(&baton.turn[i]);
        pthread_join(baton.threads[i], NULL);
    }
}

#endif
