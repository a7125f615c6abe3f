// expect-exit: 0
// strict-may-say: a_thread_has_SIGSEGV_blocked
// timeout: 60
//
// A collector of garbage stops the world: a signal takes every thread out of what it does, and the
// thread waits in the handler. Meanwhile the collector maps, protects, drops and unmaps memory,
// asks for actions, writes, and touches pages beside copies that are in flight. What it needs for
// that no thread that is stopped may have.
#include "signals.h"

#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 300, COPY_BYTES = 15 * PAGE, BUFFER_BYTES = 48 * PAGE };
enum way { BY_SIGNAL, BY_SEMAPHORE, ASLEEP, WAYS };

struct worker {
    pthread_t thread;
    unsigned char *pinned, *mapped;
    sem_t resumed;
    int number;
};

static struct worker workers[THREADS];
static __thread struct worker *self;
static sem_t stopped;
static _Atomic int way, cycle;
static _Atomic bool ends;

static void resume(int number)
{
    (void)number;
}

/* What it needs of the collector it reads before it says that it has stopped. */
static void stop(int number)
{
    int saved = errno;
    int since = cycle;
    int how = way;
    sigset_t all_but_one = every();
    (void)number;
    sigdelset(&all_but_one, SIGUSR2);
    sem_post(&stopped);
    if (how == BY_SEMAPHORE) {
        while (sem_wait(&self->resumed) != 0)
            continue;
    } else {
        while (cycle == since) {
            if (how == BY_SIGNAL)
                sigsuspend(&all_but_one);
            else
                nanosleep(&(struct timespec){0, 50000}, NULL);
        }
    }
    errno = saved;
}

static void copy(struct worker *worker, unsigned char *device, cudaStream_t stream, int value)
{
    memset(worker->pinned, value, COPY_BYTES);
    CHECK(cudaMemcpyAsync(device, worker->pinned, COPY_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaHostRegister(worker->mapped, BUFFER_BYTES, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(worker->mapped, device, COPY_BYTES, cudaMemcpyDeviceToHost, stream));
    worker->pinned[COPY_BYTES] = worker->mapped[COPY_BYTES] = 1;
    CHECK(cudaStreamSynchronize(stream));
    if (worker->mapped[COPY_BYTES - 1] != (value & 0xff))
        printf("wrong\n");
    CHECK(cudaHostUnregister(worker->mapped));
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    void *device = NULL;
    cudaStream_t stream = NULL;
    self = worker;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, COPY_BYTES));
    sem_post(&stopped);
    for (int i = 0; !ends; i++)
        copy(worker, device, stream, i);
    return NULL;
}

static void *map_pages(size_t size_bytes)
{
    return mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void await_all(void)
{
    for (int i = 0; i < THREADS; i++)
        while (sem_wait(&stopped) != 0)
            continue;
}

static void start(void)
{
    sem_init(&stopped, 0, 0);
    for (int i = 0; i < THREADS; i++) {
        struct worker *worker = &workers[i];
        sem_init(&worker->resumed, 0, 0);
        worker->mapped = map_pages(BUFFER_BYTES);
        CHECK(cudaMallocHost((void **)&worker->pinned, BUFFER_BYTES));
        CHECK(pthread_create(&worker->thread, NULL, work, worker));
    }
    await_all();
}

static void let_go_on(void)
{
    cycle++;
    for (int i = 0; i < THREADS; i++)
        if (way == BY_SEMAPHORE)
            sem_post(&workers[i].resumed);
        else if (way == BY_SIGNAL)
            pthread_kill(workers[i].thread, SIGUSR2);
}

static void collect(unsigned char *heap, size_t heap_bytes, int file)
{
    struct sigaction action;
    unsigned char *more = map_pages(heap_bytes);
    more[PAGE] = 1;
    CHECK(mprotect(heap, heap_bytes, PROT_READ));
    CHECK(mprotect(heap, heap_bytes, PROT_READ | PROT_WRITE));
    CHECK(madvise(more, heap_bytes, MADV_DONTNEED));
    CHECK(munmap(more, heap_bytes));
    CHECK(sigaction(SIGPWR, NULL, &action));
    if (action.sa_handler != stop || write(file, heap, PAGE) != PAGE)
        printf("not as ever\n");
    for (int i = 0; i < THREADS; i++)
        workers[i].pinned[BUFFER_BYTES - 1] = workers[i].pinned[COPY_BYTES + 1] = 2;
}

int main(void)
{
    enum { HEAP_BYTES = 64 * PAGE };
    unsigned char *heap = map_pages(HEAP_BYTES);
    int file = open("/dev/null", O_WRONLY);
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART, .sa_mask = every()};
    CHECK(sigaction(SIGPWR, &action, NULL));
    action.sa_handler = resume;
    CHECK(sigaction(SIGUSR2, &action, NULL));
    start();
    for (int round = 0; round < ROUNDS; round++) {
        way = round % WAYS;
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_kill(workers[i].thread, SIGPWR));
        await_all();
        collect(heap, HEAP_BYTES, file);
        let_go_on();
        usleep(100);
    }
    ends = true;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(workers[i].thread, NULL));
    printf("collected\n");
    return 0;
}
