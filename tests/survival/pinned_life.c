// expect-exit: 0
// needs: kernel (room)
//
// Large pinned allocations come and go on several threads, are copied from and to in whole and in
// part, are inherited by a child, and end with their context.
#include "process.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 12 };

static const size_t sizes[] = {(size_t)128 << 10,     300000,          (size_t)1 << 20,
                               ((size_t)1 << 20) + 1, (size_t)2 << 20, ((size_t)5 << 20) + 4096,
                               (size_t)9000000};

static bool all_are(const unsigned char *bytes, size_t size, unsigned char value)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

static bool use(size_t size, unsigned char value, bool in_parts)
{
    unsigned char *in = NULL;
    unsigned char *out = NULL;
    void *device = NULL;
    cudaStream_t stream = NULL;
    size_t part = in_parts ? size / 3 : size;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost((void **)&in, size));
    CHECK(cudaHostAlloc((void **)&out, size, cudaHostAllocPortable));
    CHECK(cudaMalloc(&device, size));
    memset(in, value, size);
    memset(out, 0, size);
    for (size_t at = 0; at < size; at += part) {
        size_t now = size - at < part ? size - at : part;
        CHECK(cudaMemcpyAsync((char *)device + at, in + at, now, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(out + at, (char *)device + at, now, cudaMemcpyDeviceToHost, stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    bool right = all_are(out, size, value);
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(out));
    CHECK(cudaFree(device));
    CHECK(cudaStreamDestroy(stream));
    return right;
}

static void *work(void *argument)
{
    uintptr_t number = (uintptr_t)argument;
    uintptr_t wrong = 0;
    for (unsigned i = 0; i < ROUNDS; i++)
        wrong += !use(sizes[(number + i) % (sizeof sizes / sizeof sizes[0])],
                      (unsigned char)(number * 16 + i + 1), i % 2);
    return (void *)wrong;
}

static void use_on_threads(void)
{
    pthread_t threads[THREADS];
    uintptr_t wrong = 0;
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i));
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        wrong += (uintptr_t)result;
    }
    printf("wrong rounds: %lu\n", (unsigned long)wrong);
}

/* The child reads what the parent had written before the fork. */
static void fork_with(unsigned char *memory, size_t size)
{
    memset(memory, 42, size);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(all_are(memory, size, 42) ? 7 : 8);
    int status = -1;
    CHECK(waitpid(child, &status, 0) != child);
    printf("the child saw what was there: %d\n", WIFEXITED(status) && WEXITSTATUS(status) == 7);
    printf("and so does the parent: %d\n", all_are(memory, size, 42));
}

int main(void)
{
    unsigned char *memory = NULL;
    use_on_threads();
    CHECK(cudaMallocHost((void **)&memory, (size_t)4 << 20));
    fork_with(memory, (size_t)4 << 20);
    use_on_threads();
    CHECK(cudaFreeHost(memory));
    CHECK(cudaMallocHost((void **)&memory, (size_t)4 << 20));
    memset(memory, 1, (size_t)4 << 20);
    CHECK(cudaDeviceReset());
    CHECK(cudaSetDevice(0));
    use_cuda("after the reset");
    return 0;
}
