// expect-exit: 0
//
// pthread_atfork handlers that allocate and free, before and after those that the driver and the
// library install: no lock of either may be held while the handlers of the program run.
#include "process.h"

#include <pthread.h>

static void *kept[2];
static int pairs;
static int runs;

static void prepare(void)
{
    kept[pairs++ % 2] = malloc(3000);
    churn(20);
}

static void in_parent(void)
{
    free(kept[--pairs % 2]);
    churn(20);
    runs += 10;
}

static void after_in_child(void)
{
    free(kept[--pairs % 2]);
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
    SHOW(pthread_atfork(prepare, in_parent, after_in_child));
    in_child("first", show_runs, 0, true);
    in_child("second", show_runs, 0, false);
    printf("parent: %d\n", runs);
    use_cuda("after");
    return 0;
}
