// pthread_atfork handlers that allocate, free and, in the parent, copy: they run on both sides of
// the library's own.
#include "process.h"

#include <pthread.h>

static void *kept;
static int runs;

static void prepare(void)
{
    kept = malloc(3000);
    churn(20);
    runs += round_trip(4096);
}

static void in_parent(void)
{
    free(kept);
    runs += round_trip(4096);
}

static void after_in_child(void)
{
    free(kept);
    churn(20);
    runs += 100;
}

static void show_runs(void)
{
    printf("child: %d\n", runs);
}

int main(void)
{
    SHOW(pthread_atfork(prepare, in_parent, after_in_child));
    use_cuda("before");
    in_child("first", show_runs, 0, true);
    in_child("second", show_runs, 0, false);
    printf("parent: %d\n", runs);
    use_cuda("after");
    return 0;
}
