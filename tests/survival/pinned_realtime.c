// expect-exit: 0
// timeout: 40
// needs: userfaultfd
// needs: real-time
//
// One processor, and two threads of a real-time policy. The one of higher priority writes beside a
// copy in flight in pinned memory, and the other leaves the processor to no lower one until that is
// done. The kernel ends the process (SIGXCPU) if that takes it more than half a second of processor
// time.
#include "in_flight.h"
#include "real_time.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <sys/resource.h>

enum { ROUNDS = 80 };

static unsigned char *edge;
static sem_t may_write, may_spin, is_over;
static atomic_int written;

static void *write_beside(void *unused)
{
    become_real_time(HIGHER);
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&may_write);
        sem_post(&may_spin); /* it spins from when this thread waits */
        edge[i] = (unsigned char)i;
        atomic_store(&written, i + 1);
    }
    return unused;
}

static void *spin(void *unused)
{
    become_real_time(LOWER);
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&may_spin);
        while (atomic_load(&written) <= i)
            continue;
        sem_post(&is_over);
    }
    return unused;
}

int main(void)
{
    pthread_t writer, spinner;
    struct rlimit at_once = {.rlim_cur = 500000, .rlim_max = RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_RTTIME, &at_once));
    use_one_processor();
    setenv("SURVIVAL_PINNED", "1", 1);
    edge = edge_start();
    CHECK(sem_init(&may_write, 0, 0) | sem_init(&may_spin, 0, 0) | sem_init(&is_over, 0, 0));
    CHECK(pthread_create(&writer, NULL, write_beside, NULL));
    CHECK(pthread_create(&spinner, NULL, spin, NULL));
    for (int i = 0; i < ROUNDS; i++) {
        hold();
        sem_post(&may_write);
        sem_wait(&is_over);
        release();
    }
    CHECK(pthread_join(writer, NULL) | pthread_join(spinner, NULL));
    printf("%d\n", edge[ROUNDS - 1]);
    return 0;
}
