// expect-exit: 0
//
// Forks again and again while other threads allocate, free and copy: no lock of ours may be left
// taken in a child.
#include "process.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_bool stop;

static void *allocate(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop))
        churn(100);
    return NULL;
}

static void *copy(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) {
        if (!round_trip(4096))
            abort();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int bad = 0;
    use_cuda("before");
    fflush(stdout);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, i == 0 ? copy : allocate, NULL));
    for (int i = 0; i < 30; i++) {
        pid_t child = fork();
        if (child == 0) {
            churn(50);
            _exit(0);
        }
        int status = -1;
        if (waitpid(child, &status, 0) != child || status != 0)
            bad++;
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("children that failed: %d\n", bad);
    return 0;
}
