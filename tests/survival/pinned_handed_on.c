// expect-exit: 0
// needs: kernel (raw system calls)
//
// Pinned memory is handed to system calls of the program's own, which no hook sees: a source while
// it is uploaded, and a result as soon as it is there, while other threads' copies begin and end.
// None of the calls fails.
#include "raw_mask.h"
#include "survival.h"

#include <pthread.h>
#include <sys/uio.h>

enum { THREADS = 4, ROUNDS = 200, BYTES = 64 << 10 };

struct worker {
    pthread_t thread;
    int pipe[2];
    long failed, wrong;
};

static long hand_on(int fd, const unsigned char *bytes)
{
    return raw_call(SYS_write, fd, (long)bytes, 4096, 0) != 4096;
}

static long take_back(int fd, unsigned char *bytes)
{
    return raw_call(SYS_read, fd, (long)bytes, 4096, 0) != 4096;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    unsigned char *source, *result;
    void *device;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost((void **)&source, BYTES));
    CHECK(cudaMallocHost((void **)&result, BYTES));
    CHECK(cudaMalloc(&device, BYTES));
    for (int i = 0; i < ROUNDS; i++) {
        memset(source, i, BYTES);
        CHECK(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, stream));
        worker->failed += hand_on(worker->pipe[1], source + BYTES / 2);
        CHECK(cudaMemcpyAsync(result, device, BYTES, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        worker->wrong += result[0] != (unsigned char)i || result[BYTES - 1] != (unsigned char)i;
        worker->failed += take_back(worker->pipe[0], result + BYTES / 4);
        worker->failed += hand_on(worker->pipe[1], result);
        worker->failed += take_back(worker->pipe[0], source);
    }
    return NULL;
}

int main(void)
{
    static struct worker workers[THREADS];
    long failed = 0, wrong = 0;
    for (int i = 0; i < THREADS; i++) {
        CHECK(pipe(workers[i].pipe));
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(workers[i].thread, NULL));
        failed += workers[i].failed;
        wrong += workers[i].wrong;
    }
    printf("%ld failed, %ld wrong\n", failed, wrong);
    return 0;
}
