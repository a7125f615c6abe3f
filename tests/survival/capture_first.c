// The first capture of a process, while other threads allocate and free pinned memory: a free by
// another thread breaks no capture that is local to a thread.
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "survival.h"

enum { PROCESSES = 60, THREADS = 4, SMALL_BYTES = 4096, LARGE_BYTES = 200000, BUSY_STEPS = 997 };

static _Atomic int ready;
static _Atomic int stop;

static void *allocate_and_free(void *is_large)
{
    void *block = NULL;
    ready++;
    while (!stop) {
        CHECK(cudaMallocHost(&block, is_large ? LARGE_BYTES : SMALL_BYTES));
        CHECK(cudaFreeHost(block));
    }
    return NULL;
}

static void capture_once(int process)
{
    pthread_t threads[THREADS];
    cudaStream_t stream;
    cudaGraph_t graph;
    void *device;
    void *host;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, SMALL_BYTES));
    CHECK(cudaMallocHost(&host, SMALL_BYTES));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, allocate_and_free, i % 2 ? host : NULL);
    while (ready < THREADS)
        sched_yield();
    for (volatile int i = 0; i < process * BUSY_STEPS; i++)
        ;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemcpyAsync(device, host, SMALL_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    stop = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(int count, char **arguments)
{
    int captured = 0;
    if (count > 1) {
        capture_once(atoi(arguments[1]));
        return 0;
    }
    for (int i = 0; i < PROCESSES; i++) {
        char number[12];
        int status = 1;
        snprintf(number, sizeof number, "%d", i);
        pid_t child = fork();
        if (child == 0) {
            execl("/proc/self/exe", arguments[0], number, NULL);
            _exit(1);
        }
        captured += waitpid(child, &status, 0) == child && status == 0;
    }
    printf("%d of %d captured\n", captured, PROCESSES);
}
