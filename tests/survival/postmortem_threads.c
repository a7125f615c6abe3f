// expect-exit: 0
// link: cuda
// options: verbosity=0
//
// Two threads learn at once that the context is lost, and one of them ends the process.
#include "faulting.h"

#include <pthread.h>

enum { THREADS = 2 };

static pthread_barrier_t barrier;
static CUcontext context;
static CUstream streams[THREADS];
static int results[THREADS];

static void *wait_for(void *index)
{
    size_t i = (size_t)index;
    CHECK(cuCtxSetCurrent(context));
    pthread_barrier_wait(&barrier);
    results[i] = (int)cuStreamSynchronize(streams[i]);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    CUfunction fault = faulting_kernel();
    CHECK(cuCtxGetCurrent(&context));
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS));
    for (size_t i = 0; i < THREADS; i++) {
        streams[i] = faulting_stream();
        CHECK(faulting_launch(fault, streams[i]));
    }
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, wait_for, (void *)i));
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL));
    printf("%d %d\n", results[0], results[1]);
    return 0;
}
