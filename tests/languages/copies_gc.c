/* The cases of tests/languages.py, with Boehm's collector (libgc), which stops all threads by
 * signals. */
#define GC_THREADS
#include <cuda_runtime_api.h>
#include <gc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SIZE = 256 << 10,
    SMALL = 64 << 10,
    BESIDE = 256, /* the copies leave out so much at the beginning of their pages */
    WORKERS = 8,
    ROUNDS = 20,
};

struct flight {
    cudaStream_t stream;
    void *device;
    char *source, *target;
};

static void check(cudaError_t code)
{
    if (code == cudaSuccess)
        return;
    fprintf(stderr, "CUDA error %d\n", code);
    exit(3);
}

static struct flight *new_flight(int seed)
{
    struct flight *flight = GC_MALLOC(sizeof *flight);
    check(cudaStreamCreateWithFlags(&flight->stream, cudaStreamNonBlocking));
    check(cudaMalloc(&flight->device, SIZE));
    check(cudaMallocHost((void **)&flight->source, SIZE));
    flight->target = malloc(SIZE);
    check(cudaHostRegister(flight->target, SIZE, 0));
    for (int i = 0; i < SIZE; i++)
        flight->source[i] = (char)(seed + i * 31);
    return flight;
}

static void start(const struct flight *flight)
{
    size_t size = SIZE - BESIDE;
    check(cudaMemcpyAsync(flight->device, flight->source + BESIDE, size, cudaMemcpyHostToDevice,
                          flight->stream));
    check(cudaMemcpyAsync(flight->target + BESIDE, flight->device, size, cudaMemcpyDeviceToHost,
                          flight->stream));
}

static bool land(const struct flight *flight)
{
    check(cudaStreamSynchronize(flight->stream));
    return memcmp(flight->source + BESIDE, flight->target + BESIDE, SIZE - BESIDE) == 0;
}

static void end(struct flight *flight)
{
    check(cudaHostUnregister(flight->target));
    free(flight->target);
    check(cudaFreeHost(flight->source));
    check(cudaFree(flight->device));
    check(cudaStreamDestroy(flight->stream));
}

static void *litter(void)
{
    void **last = NULL;
    for (int i = 0; i < 1000; i++) {
        void **next = GC_MALLOC(64);
        *next = last;
        last = next;
    }
    return last;
}

static void *copy_and_collect(void *argument)
{
    bool right = true;
    for (int round = 0; round < ROUNDS; round++) {
        struct flight *flight = new_flight(round);
        start(flight);
        flight->source[0] = flight->target[0] = 1;
        litter();
        GC_gcollect();
        right = land(flight) && right;
        end(flight);
    }
    return right ? argument : NULL;
}

static bool in_threads(void *work(void *), size_t stack_bytes)
{
    pthread_t threads[WORKERS];
    pthread_attr_t attributes;
    bool right = true;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], &attributes, work, &right) != 0)
            return false;
    for (int i = 0; i < WORKERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        right = result && right;
    }
    return right;
}

/* A driver's thread may have all signals blocked. */
static void CUDART_CB called(void *argument)
{
    struct GC_stack_base base;
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, GC_get_suspend_signal());
    pthread_sigmask(SIG_UNBLOCK, &stops, NULL);
    GC_get_stack_base(&base);
    bool is_new = GC_register_my_thread(&base) == GC_SUCCESS;
    litter();
    GC_gcollect();
    ++*(int *)argument;
    if (is_new)
        GC_unregister_my_thread();
}

static void *call_back(void *argument)
{
    struct flight *flight = new_flight(1);
    int *count = GC_MALLOC(sizeof *count);
    for (int round = 0; round < ROUNDS; round++) {
        check(cudaLaunchHostFunc(flight->stream, called, count));
        start(flight);
    }
    bool right = land(flight) && *count == ROUNDS;
    end(flight);
    return right ? argument : NULL;
}

static void *spawn(void *argument)
{
    struct flight *flight = new_flight(1);
    start(flight);
    bool right = system("true") == 0;
    right = land(flight) && right;
    end(flight);
    return right ? argument : NULL;
}

static bool overwrite(void)
{
    struct flight *flight = new_flight(1);
    start(flight);
    flight->source[SIZE - 1]++;
    check(cudaStreamSynchronize(flight->stream));
    flight->source[SIZE - 1]--;
    return land(flight);
}

static void GC_CALLBACK finalize(void *block, void *unused)
{
    (void)unused;
    free(*(void **)block);
    memset(malloc(SMALL), 1, SMALL);
}

static __attribute__((noinline)) void lose_block(const struct flight *flight)
{
    void **block = GC_MALLOC(sizeof *block);
    *block = malloc(SMALL);
    check(cudaHostRegister(*block, SMALL, 0));
    memcpy(*block, flight->source, SMALL);
    GC_REGISTER_FINALIZER(block, finalize, NULL, NULL, NULL);
    check(cudaMemcpyAsync(flight->device, *block, SMALL, cudaMemcpyHostToDevice, flight->stream));
}

static bool collect_in_flight(void)
{
    struct flight *flight = new_flight(1);
    lose_block(flight);
    for (int i = 0; i < 4; i++)
        litter();
    GC_gcollect();
    GC_invoke_finalizers();
    check(cudaMemcpyAsync(flight->target, flight->device, SMALL, cudaMemcpyDeviceToHost,
                          flight->stream));
    check(cudaStreamSynchronize(flight->stream));
    return memcmp(flight->source, flight->target, SMALL) == 0;
}

static bool die(void)
{
    start(new_flight(1));
    return *(volatile char *)8;
}

static bool run(const char *name)
{
    if (strcmp(name, "copies") == 0)
        return in_threads(copy_and_collect, 1 << 20);
    if (strcmp(name, "small") == 0)
        return in_threads(copy_and_collect, 64 << 10);
    if (strcmp(name, "callback") == 0)
        return in_threads(call_back, 1 << 20);
    if (strcmp(name, "spawn") == 0)
        return in_threads(spawn, 1 << 20);
    if (strcmp(name, "overwrite") == 0)
        return overwrite();
    if (strcmp(name, "free") == 0)
        return collect_in_flight();
    return strcmp(name, "fatal") == 0 && die();
}

int main(int count, char **arguments)
{
    GC_INIT();
    GC_allow_register_threads();
    bool right = count == 2 && run(arguments[1]);
    puts(right ? "data right" : "data wrong");
    return 0;
}
