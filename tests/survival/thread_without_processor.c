// expect-exit: 0
// run: -> unguarded.operations=0 unjudged.uses=0 hazards=0
// needs: real-time
//
// A thread that the C library starts has all signals blocked until it runs, and here it does not
// for as long as the kernel lets a thread of a real-time policy have the only processor: what is
// copied meanwhile is guarded all the same.
#include "in_flight.h"
#include "real_time.h"

#include <semaphore.h>

static sem_t may_spin, has_begun;
static atomic_bool is_guarded;

static void *spin(void *unused)
{
    become_real_time(LOWER);
    sem_post(&has_begun);
    sem_wait(&may_spin);
    while (!atomic_load(&is_guarded))
        continue;
    return unused;
}

static void *begin(void *unused)
{
    sem_post(&has_begun);
    return unused;
}

/* It does not have the real-time policy of its creator. */
static void create_other(pthread_t *thread)
{
    const struct sched_param parameters = {.sched_priority = 0};
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes));
    CHECK(pthread_attr_setschedpolicy(&attributes, SCHED_OTHER));
    CHECK(pthread_attr_setschedparam(&attributes, &parameters));
    CHECK(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED));
    CHECK(pthread_create(thread, &attributes, begin, NULL));
    CHECK(pthread_attr_destroy(&attributes));
}

int main(void)
{
    pthread_t spinner, other;
    use_one_processor();
    edge_start();
    CHECK(sem_init(&may_spin, 0, 0) | sem_init(&has_begun, 0, 0));
    CHECK(pthread_create(&spinner, NULL, spin, NULL));
    sem_wait(&has_begun);
    become_real_time(HIGHER);
    sem_post(&may_spin);
    create_other(&other);
    hold();
    atomic_store(&is_guarded, true);
    sem_wait(&has_begun);
    release();
    CHECK(pthread_join(spinner, NULL) | pthread_join(other, NULL));
    puts("guarded");
    return 0;
}
