// expect-exit: 0
//
// A signal handler leaves waits for the device by siglongjmp, as programs with a time limit do.
// What comes after them works as before.
#include "survival.h"

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

enum { BYTES = 4096, ALARM_US = 30000 };

static sigjmp_buf back;
static atomic_bool released;
static cudaStream_t stream;
static cudaEvent_t event;
static void *device, *pinned, *other;

static void jump(int number)
{
    siglongjmp(back, number);
}

static void CUDART_CB hold(void *argument)
{
    (void)argument;
    while (!released)
        usleep(1000);
}

static void wait_for_stream(void)
{
    cudaStreamSynchronize(stream);
}

static void wait_for_event(void)
{
    cudaEventSynchronize(event);
}

static void wait_for_device(void)
{
    cudaDeviceSynchronize();
}

static void wait_in_free(void)
{
    cudaFreeHost(other);
}

/* The stream is held until the wait has been left. */
static void leave(const char *what, void (*wait)(void))
{
    released = false;
    CHECK(cudaLaunchHostFunc(stream, hold, NULL));
    CHECK(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(event, stream));
    if (sigsetjmp(back, 1) == 0) {
        ualarm(ALARM_US, 0);
        wait();
        printf("%s: not left\n", what);
    }
    released = true;
    CHECK(cudaStreamSynchronize(stream));
    use_cuda(what);
    churn(200);
}

int main(void)
{
    struct sigaction action = {.sa_handler = jump};
    CHECK(sigaction(SIGALRM, &action, NULL));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaMallocHost(&pinned, BYTES));
    CHECK(cudaMallocHost(&other, BYTES));
    for (int i = 0; i < 3; i++) {
        leave("stream", wait_for_stream);
        leave("event", wait_for_event);
        leave("device", wait_for_device);
    }
    leave("free", wait_in_free);
    return 0;
}
