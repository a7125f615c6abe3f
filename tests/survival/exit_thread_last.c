// expect-exit: 40
//
// main leaves by pthread_exit; a thread that outlives it uses CUDA and ends the process.
#include "exits.h"

#include <pthread.h>

static void *last(void *unused)
{
    (void)unused;
    usleep(50000);
    use_cuda("last thread");
    exit(40);
}

int main(void)
{
    pthread_t thread;
    prepare();
    CHECK(pthread_create(&thread, NULL, last, NULL));
    pthread_detach(thread);
    pthread_exit(NULL);
}
