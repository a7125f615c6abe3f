// expect-exit: 0
//
// main leaves by pthread_exit; the process ends with its last thread.
#include "exits.h"

#include <pthread.h>

static void *last(void *unused)
{
    (void)unused;
    usleep(50000);
    use_cuda("last thread");
    return NULL;
}

int main(void)
{
    pthread_t thread;
    CHECK(atexit(at_exit));
    prepare();
    CHECK(pthread_create(&thread, NULL, last, NULL));
    pthread_detach(thread);
    pthread_exit(NULL);
}
