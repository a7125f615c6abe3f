// expect-exit: 39
// needs: sim
//
// exit while other threads are in the middle of copies and frees.
#include "exits.h"

#include <pthread.h>

static void *work(void *unused)
{
    (void)unused;
    for (;;) {
        churn(20);
        cudaGetLastError();
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    prepare();
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&thread, NULL, work, NULL));
    usleep(20000);
    exit(39);
}
