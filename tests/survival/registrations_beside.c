// expect-exit: 0
//
// Threads that share nothing but the context register memory, capture it, unregister it while an
// exec names it, and register it again, with captures of other threads beside. A registration that
// is kept for an exec may be ended by any of them.
#include "survival.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 40, PAGE = 4096, PAGES = 16 };

struct worker {
    pthread_t thread;
    unsigned char *memory, *bytes;
    void *device;
    cudaStream_t stream;
    uint32_t random;
    int wrong;
};

static unsigned draw(struct worker *worker, unsigned below)
{
    worker->random = worker->random * 1664525u + 1013904223u;
    return (worker->random >> 16) % below;
}

static cudaGraphExec_t capture(struct worker *worker, const unsigned char *source,
                               size_t size_bytes)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(worker->stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemcpyAsync(worker->device, source, size_bytes, cudaMemcpyHostToDevice,
                          worker->stream));
    CHECK(cudaStreamEndCapture(worker->stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

static void check_device(struct worker *worker, size_t size_bytes, int value)
{
    CHECK(cudaStreamSynchronize(worker->stream));
    CHECK(cudaMemcpy(worker->bytes, worker->device, size_bytes, cudaMemcpyDeviceToHost));
    worker->wrong += worker->bytes[0] != value || worker->bytes[size_bytes - 1] != value;
}

static void take_round(struct worker *worker, int round, cudaGraphExec_t *former)
{
    size_t size_bytes = (1 + draw(worker, PAGES / 2)) * (size_t)PAGE;
    unsigned char *source = worker->memory + draw(worker, PAGES / 2) * (size_t)PAGE;
    CHECK(cudaHostRegister(source, size_bytes, cudaHostRegisterDefault));
    memset(source, round, size_bytes);
    cudaGraphExec_t exec = capture(worker, source, size_bytes);
    CHECK(cudaGraphLaunch(exec, worker->stream));
    check_device(worker, size_bytes, round);
    CHECK(cudaHostUnregister(source));
    if (draw(worker, 2)) {
        memset(source, round + 1, size_bytes);
        CHECK(cudaMemcpyAsync(worker->device, source, size_bytes, cudaMemcpyHostToDevice,
                              worker->stream));
        memset(source, round + 2, size_bytes);
        check_device(worker, size_bytes, round + 1);
    }
    if (*former)
        CHECK(cudaGraphExecDestroy(*former));
    *former = exec;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    cudaGraphExec_t former = NULL;
    for (int round = 1; round <= ROUNDS; round++)
        take_round(worker, round, &former);
    CHECK(cudaGraphExecDestroy(former));
    return NULL;
}

int main(void)
{
    struct worker workers[THREADS] = {0};
    int wrong = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        struct worker *worker = &workers[i];
        worker->random = i;
        worker->memory = aligned_alloc(PAGE, PAGES * (size_t)PAGE);
        worker->bytes = malloc(PAGES * (size_t)PAGE);
        CHECK(!worker->memory || !worker->bytes);
        CHECK(cudaMalloc(&worker->device, PAGES * (size_t)PAGE));
        CHECK(cudaStreamCreateWithFlags(&worker->stream, cudaStreamNonBlocking));
    }
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]));
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(workers[i].thread, NULL));
    CHECK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < THREADS; i++)
        wrong += workers[i].wrong;
    printf("%d wrong\n", wrong);
    return 0;
}
