// expect-exit: 32
//
// on_exit is told the status; exit is called from a thread.
#include "exits.h"

#include <pthread.h>

static void report(int status, void *argument)
{
    printf("on_exit: %d %s\n", status, (char *)argument);
    free(argument);
}

static void *leave(void *unused)
{
    (void)unused;
    exit(32);
}

int main(void)
{
    pthread_t thread;
    CHECK(on_exit(report, strdup("argument")));
    prepare();
    CHECK(pthread_create(&thread, NULL, leave, NULL));
    pthread_join(thread, NULL);
    return 0;
}
