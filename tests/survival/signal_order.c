// expect-exit: 0
// timeout: 60
//
// Real-time signals that are sent to one thread are handled in the order in which they were sent,
// and none is lost, wherever they interrupt the thread's calls on streams. (All threads share one
// processor, so that several signals come at once.)
#include "signals.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { SIGNALS = 20000, BURST = 20, COPY_BYTES = 15 * PAGE, BUFFER_BYTES = 48 * PAGE };

static _Atomic int handled;
static int out_of_order, changed;
static _Atomic bool ends;

static void take(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (info->si_value.sival_int != handled)
        out_of_order++;
    if (info->si_code != SI_QUEUE || info->si_errno != 0 || info->si_pid != getpid())
        changed++;
    handled++;
}

static void *copy(void *unused)
{
    unsigned char *buffers[2];
    void *device = NULL;
    cudaStream_t stream = NULL;
    (void)unused;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, COPY_BYTES));
    for (int i = 0; i < 2; i++)
        CHECK(cudaMallocHost((void **)&buffers[i], BUFFER_BYTES));
    for (int i = 0; !ends; i++) {
        memset(buffers[0], i, COPY_BYTES);
        CHECK(cudaMemcpyAsync(device, buffers[0], COPY_BYTES, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(buffers[1], device, COPY_BYTES, cudaMemcpyDeviceToHost, stream));
        buffers[0][COPY_BYTES] = buffers[1][COPY_BYTES] = 1;
        CHECK(cudaStreamSynchronize(stream));
    }
    return NULL;
}

int main(void)
{
    const int number = SIGRTMIN + 1;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one));
    pthread_t thread;
    struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO | SA_RESTART};
    CHECK(sigaction(number, &action, NULL));
    CHECK(pthread_create(&thread, NULL, copy, NULL));
    for (int i = 0; i < SIGNALS; i++) {
        union sigval value = {.sival_int = i};
        while (pthread_sigqueue(thread, number, value) != 0)
            sched_yield(); /* so many may be pending */
        if (i % BURST == 0)
            usleep(50);
    }
    for (int i = 0; i < 10000 && handled < SIGNALS; i++)
        usleep(1000);
    ends = true;
    CHECK(pthread_join(thread, NULL));
    SHOW(handled);
    SHOW(out_of_order);
    SHOW(changed);
    return 0;
}
