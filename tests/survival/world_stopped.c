// expect-exit: 0
// strict-may-say: a_thread_has_SIGSEGV_blocked
//
// A collector of garbage stops all threads by a signal, maps and frees memory meanwhile, and lets
// them go on. The threads pin memory, copy and wait: on stacks of 64 KB, and in coroutines on
// stacks that nobody knows. A thread that is stopped may have the driver's lock, and another one
// that waits for that lock has to be stopped, too.
#include "survival.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 60, BYTES = 1 << 16, STACK = 64 << 10, STOP = 40 };

static struct worker {
    pthread_t thread;
    ucontext_t own, coroutine;
    sem_t go_on;
    int in_coroutine;
} workers[THREADS];

static __thread struct worker *self;
static sem_t stopped;
static _Atomic int left = THREADS;

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        continue;
}

static void stop(int number)
{
    int saved = errno;
    (void)number;
    CHECK(sem_post(&stopped));
    await(&self->go_on);
    errno = saved;
}

static void use(void)
{
    cudaStream_t stream;
    char *device;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc((void **)&device, BYTES));
    for (int i = 0; i < ROUNDS; i++) {
        char *from, *to;
        CHECK(cudaMallocHost((void **)&from, 4096 * (size_t)(1 + i % 8)));
        CHECK(cudaMallocHost((void **)&to, BYTES));
        memset(from, i, 4096);
        CHECK(cudaMemcpyAsync(device, from, 4096, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(to, device, 4096, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        if (to[9] != (char)i || to[4095] != (char)i)
            printf("wrong\n");
        CHECK(cudaFreeHost(from));
        CHECK(cudaFreeHost(to));
    }
    CHECK(cudaFree(device));
}

static void use_in_coroutine(struct worker *worker)
{
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(getcontext(&worker->coroutine));
    worker->coroutine.uc_stack.ss_sp = stack;
    worker->coroutine.uc_stack.ss_size = STACK;
    worker->coroutine.uc_link = &worker->own;
    makecontext(&worker->coroutine, use, 0);
    CHECK(swapcontext(&worker->own, &worker->coroutine));
}

/* A thread that has done its work goes on to answer. */
static void *run(void *worker)
{
    self = worker;
    CHECK(sem_post(&stopped));
    if (self->in_coroutine)
        use_in_coroutine(self);
    else
        use();
    left--;
    for (;;)
        pause();
    return NULL;
}

static void collect(void)
{
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_kill(workers[i].thread, STOP));
    for (int i = 0; i < THREADS; i++)
        await(&stopped);
    void *pages = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(munmap(pages, BYTES));
    free(malloc(BYTES));
    for (int i = 0; i < THREADS; i++)
        CHECK(sem_post(&workers[i].go_on));
}

int main(void)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    pthread_attr_t attributes;
    CHECK(cudaFree(NULL));
    CHECK(sigaction(STOP, &action, NULL));
    CHECK(sem_init(&stopped, 0, 0));
    CHECK(pthread_attr_init(&attributes));
    CHECK(pthread_attr_setstacksize(&attributes, STACK));
    for (int i = 0; i < THREADS; i++) {
        workers[i].in_coroutine = i % 2;
        CHECK(sem_init(&workers[i].go_on, 0, 0));
        CHECK(pthread_create(&workers[i].thread, &attributes, run, &workers[i]));
    }
    for (int i = 0; i < THREADS; i++)
        await(&stopped);
    while (left) {
        collect();
        usleep(200);
    }
    printf("over\n");
    fflush(stdout);
    _exit(0);
}
