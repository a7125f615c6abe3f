// expect-exit: 0
//
// Sixteen threads allocate, free and copy at once, and every one of them ends.
#include "survival.h"

#include <pthread.h>

enum { THREADS = 16, ROUNDS = 8 };

static void *work(void *number)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        churn(500);
        if (!round_trip((size_t)4096 << (i % 5)))
            return number;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int wrong = 0;
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(i + 1)));
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        wrong += result != NULL;
    }
    printf("threads that saw wrong data: %d\n", wrong);
    return 0;
}
