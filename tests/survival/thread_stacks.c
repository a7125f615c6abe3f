// expect-exit: 0
//
// Threads that copy to and from their stacks and wait for it, and end in every way; with stacks of
// their own, many one after the other, and with every key for a destructor in use.
#include "survival.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

enum { SIZE = 64 << 10, PAGE = 4096 };

static cudaStream_t stream;
static void *device;
static int right;
static sem_t is_waiting;

/* Registered memory, and a batch of pageable memory. */
static SURVIVAL_HELPER void use_stack(int value)
{
    _Alignas(PAGE) unsigned char local[SIZE];
    unsigned char back[SIZE];
    void *target = back;
    const void *source = device;
    size_t size = sizeof back;
    size_t first = 0;
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderAny};
    memset(local, value, sizeof local);
    memset(back, 0, sizeof back);
    CHECK(cudaHostRegister(local, sizeof local, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(device, local, sizeof local, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyBatchAsync(&target, &source, &size, 1, &order, &first, 1, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(local));
    right += memcmp(local, back, sizeof back) == 0;
}

static void *returns(void *argument)
{
    use_stack((int)(intptr_t)argument);
    errno = ENOTTY;
    return argument;
}

static void *exits(void *argument)
{
    use_stack((int)(intptr_t)argument);
    pthread_exit(argument);
}

static void *is_cancelled(void *argument)
{
    use_stack((int)(intptr_t)argument);
    sem_post(&is_waiting);
    while (pause() != 0)
        continue;
    return argument;
}

static void run(const char *how, void *(*start)(void *), const pthread_attr_t *attributes)
{
    right = 0;
    for (int i = 1; i <= 20; i++) {
        pthread_t thread;
        void *result = NULL;
        CHECK(pthread_create(&thread, attributes, start, (void *)(intptr_t)i));
        if (start == is_cancelled) {
            sem_wait(&is_waiting);
            CHECK(pthread_cancel(thread));
        }
        CHECK(pthread_join(thread, &result));
        if (result != (void *)(intptr_t)i && result != PTHREAD_CANCELED)
            puts("another result");
    }
    printf("%s: %d right\n", how, right);
}

static void on_own_stack(void)
{
    pthread_attr_t attributes;
    size_t size = (size_t)1 << 20;
    void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstack(&attributes, stack, size));
    run("on a stack of the program's", returns, &attributes);
    pthread_attr_destroy(&attributes);
    SHOW(munmap(stack, size));
}

int main(void)
{
    pthread_key_t keys[PTHREAD_KEYS_MAX];
    int count = 0;
    sem_init(&is_waiting, 0, 0);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, SIZE));
    use_stack(1); /* the main thread's needs no care */
    while (count < PTHREAD_KEYS_MAX && pthread_key_create(&keys[count], NULL) == 0)
        count++;
    run("without a key to be had", returns, NULL);
    while (count > 0)
        CHECK(pthread_key_delete(keys[--count]));
    run("returning", returns, NULL);
    run("exiting", exits, NULL);
    run("cancelled", is_cancelled, NULL);
    on_own_stack();
    return 0;
}
