// expect-exit: 0
// timeout: 100
// needs: sim
// strict-may-say: a_thread_has_SIGSEGV_blocked
//
// Processes that set their ids (setresuid, of all threads, with a signal of glibc's own) again and
// again while their threads make their first copies.
#include "survival.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum { PROCESSES = 40, THREADS = 4, COPIES = 20, SIZE = 256 << 10 };

static atomic_uint ready, working;

static void *copy(void *unused)
{
    unsigned char *host = NULL;
    void *device = NULL;
    cudaStream_t stream = NULL;
    CHECK(cudaMallocHost((void **)&host, SIZE));
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < THREADS)
        continue;
    for (unsigned i = 0; i < COPIES; i++) {
        memset(host, (int)i, SIZE);
        CHECK(cudaMemcpyAsync(device, host, SIZE, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(host, device, SIZE, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(host[SIZE / 2] != (unsigned char)i);
    }
    atomic_fetch_sub(&working, 1);
    return unused;
}

static int in_a_process(void)
{
    pthread_t threads[THREADS];
    atomic_store(&working, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, copy, NULL);
    while (atomic_load(&working))
        CHECK(setresuid(getuid(), geteuid(), (uid_t)-1));
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

int main(void)
{
    unsigned failed = 0;
    for (unsigned i = 0; i < PROCESSES; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(in_a_process());
        waitpid(child, &status, 0);
        failed += status != 0;
    }
    SHOW(failed);
    return 0;
}
