// expect-exit: 0
//
// Threads that are cancelled, and that leave by pthread_exit with clean-up handlers that free.
#include "survival.h"

#include <pthread.h>

static int cleaned;

static void clean_up(void *block)
{
    free(block);
    cleaned++;
}

static void *wait_for_ever(void *unused)
{
    (void)unused;
    void *block = malloc(10000);
    pthread_cleanup_push(clean_up, block);
    for (;;)
        pause();
    pthread_cleanup_pop(1);
    return NULL;
}

static void *leave(void *unused)
{
    (void)unused;
    void *block = malloc(10000);
    pthread_cleanup_push(clean_up, block);
    if (!round_trip(4096))
        abort();
    pthread_exit(&cleaned);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    void *result = NULL;
    use_cuda("before");
    CHECK(pthread_create(&thread, NULL, wait_for_ever, NULL));
    usleep(20000);
    SHOW(pthread_cancel(thread));
    pthread_join(thread, &result);
    printf("cancelled: %d, cleaned: %d\n", result == PTHREAD_CANCELED, cleaned);
    CHECK(pthread_create(&thread, NULL, leave, NULL));
    pthread_join(thread, &result);
    printf("left: %d, cleaned: %d\n", result == &cleaned, cleaned);
    use_cuda("after");
    return 0;
}
