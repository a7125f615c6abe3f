// expect-exit: 40
//
// A thread that has been cancelled ends the process, with a copy in flight, and does not end itself
// on the way.
#include "in_flight.h"

#include <pthread.h>

static void *end_the_process(void *unused)
{
    (void)unused;
    pthread_cancel(pthread_self());
    _exit(40);
}

int main(void)
{
    pthread_t thread;
    edge_start();
    hold();
    CHECK(pthread_create(&thread, NULL, end_the_process, NULL));
    pthread_join(thread, NULL);
    puts("the process goes on");
    return 0;
}
