// expect-exit: 0
//
// Thread-specific destructors run late in a thread's life, when other libraries' thread-local state
// may be gone: this one frees heap memory, makes a CUDA copy and sets itself up once more.
#include "survival.h"

#include <pthread.h>

static pthread_key_t key;
static int runs;

static void destroy(void *value)
{
    runs++;
    free(value);
    churn(50);
    if (!round_trip(4096))
        runs = -1000;
    if (runs % 2 == 1)
        pthread_setspecific(key, malloc(100));
}

static void *thread_body(void *unused)
{
    (void)unused;
    pthread_setspecific(key, malloc(50));
    if (!round_trip(4096))
        abort();
    return NULL;
}

int main(void)
{
    pthread_t thread;
    CHECK(pthread_key_create(&key, destroy));
    for (int i = 0; i < 5; i++) {
        CHECK(pthread_create(&thread, NULL, thread_body, NULL));
        pthread_join(thread, NULL);
    }
    printf("destructor runs: %d\n", runs);
    return 0;
}
