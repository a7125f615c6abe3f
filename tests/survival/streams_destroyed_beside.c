// Threads create and destroy streams. Another one copies on a stream, records an event behind
// the copy, destroys the stream, and waits for the event. Destroyed streams whose work cannot end
// yet keep the library looking through those that are gone.
// sim: delay=100us
// needs: sim (streams that are held up block the queues of a real device)
#include <cuda.h>
#include <pthread.h>
#include <unistd.h>

#include "survival.h"

enum { HELD_UP = 12, THREADS = 3, ROUNDS = 8000, BYTES = 512 << 10, POLL_US = 1000 };

static CUcontext context;
static _Atomic int stop;
static _Atomic int is_open;

static void hold_up(void *unused)
{
    while (!is_open)
        usleep(POLL_US);
    (void)unused;
}

static CUstream new_stream(void)
{
    CUstream stream = NULL;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static void *create_and_destroy(void *unused)
{
    CHECK(cuCtxSetCurrent(context));
    while (!stop)
        CHECK(cuStreamDestroy(new_stream()));
    return unused;
}

static void copy_and_destroy(char *target, CUdeviceptr source)
{
    CUstream stream = new_stream();
    CUevent event;
    CHECK(cuEventCreate(&event, 0));
    CHECK(cuMemcpyDtoHAsync(target, source, BYTES, stream));
    CHECK(cuEventRecord(event, stream));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuEventSynchronize(event));
    CHECK(cuEventDestroy(event));
}

static void destroy_two(void)
{
    CUstream first = new_stream();
    CUstream second = new_stream();
    CHECK(cuStreamDestroy(second));
    CHECK(cuStreamDestroy(first));
}

int main(void)
{
    char *memory;
    CUdeviceptr source;
    pthread_t threads[THREADS];
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemHostAlloc((void **)&memory, (HELD_UP + 1) * (size_t)BYTES, 0));
    CHECK(cuMemAlloc(&source, BYTES));
    for (int i = 0; i < HELD_UP; i++) {
        CUstream stream = new_stream();
        CHECK(cuLaunchHostFunc(stream, hold_up, NULL));
        CHECK(cuMemcpyDtoHAsync(memory + (size_t)i * BYTES, source, BYTES, stream));
        CHECK(cuStreamDestroy(stream));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, create_and_destroy, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        copy_and_destroy(memory + (size_t)HELD_UP * BYTES, source);
        destroy_two();
    }
    stop = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    is_open = 1;
    CHECK(cuCtxSynchronize());
    printf("done\n");
}
