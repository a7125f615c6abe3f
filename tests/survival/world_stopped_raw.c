// expect-exit: 0
// strict-may-say: a_thread_has_SIGSEGV_blocked
//
// As world_stopped.c, by a handler that the program sets with a system call of its own, so that the
// library does not know of it: it may stop a thread that has a lock of the library's. Another one
// that touches guarded memory has to take its signal all the same. The threads touch pages beside
// what is in flight, and the kernel guards and lets go of pages all the time.
#include "raw_mask.h"

#include <pthread.h>
#include <semaphore.h>

enum {
    THREADS = 4,
    ROUNDS = 200,
    ROWS = 8,
    ROW = 2048,
    BYTES = ROWS * PAGE,
    STACK = 64 << 10,
    STOP = 40,
    PATIENCE_S = 120
};

static sem_t stopped, go_on[THREADS];
static _Atomic int left = THREADS;
static __thread int self;
static pid_t threads[THREADS];

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
    await(&go_on[self]);
    errno = saved;
}

static void give_up(int number)
{
    (void)number;
    _exit(9);
}

static void set_handler(void)
{
    struct raw_action action = raw_action_of(stop);
    CHECK(raw_call(SYS_rt_sigaction, STOP, (long)&action, 0, sizeof action.mask));
}

/* Rows of half a page each. */
static void touch_between(volatile char *from, volatile char *to)
{
    for (size_t row = 0; row < ROWS; row++) {
        from[PAGE * row + ROW + 50] = 1;
        to[PAGE * row + ROW + 50] = to[PAGE * row + ROW + 51];
    }
}

static void use(void)
{
    cudaStream_t stream;
    char *device, *from, *to;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc((void **)&device, BYTES));
    CHECK(cudaMallocHost((void **)&from, BYTES));
    CHECK(cudaMallocHost((void **)&to, BYTES));
    for (int i = 0; i < ROUNDS; i++) {
        memset(from, i, BYTES);
        CHECK(
            cudaMemcpy2DAsync(device, ROW, from, PAGE, ROW, ROWS, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpy2DAsync(to, PAGE, device, ROW, ROW, ROWS, cudaMemcpyDeviceToHost, stream));
        touch_between(from, to);
        CHECK(cudaStreamSynchronize(stream));
        if (to[0] != (char)i || to[BYTES - PAGE + ROW - 1] != (char)i)
            printf("wrong\n");
    }
}

static void *run(void *number)
{
    self = (int)(intptr_t)number;
    threads[self] = gettid();
    CHECK(sem_post(&stopped));
    use();
    left--;
    for (;;)
        pause();
    return NULL;
}

static void collect(void)
{
    for (int i = 0; i < THREADS; i++)
        CHECK(raw_call(SYS_tgkill, getpid(), threads[i], STOP, 0));
    for (int i = 0; i < THREADS; i++)
        await(&stopped);
    for (int i = 0; i < THREADS; i++)
        CHECK(sem_post(&go_on[i]));
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    signal(SIGALRM, give_up);
    set_handler();
    CHECK(cudaFree(NULL));
    CHECK(sem_init(&stopped, 0, 0));
    CHECK(pthread_attr_init(&attributes));
    CHECK(pthread_attr_setstacksize(&attributes, STACK));
    for (long i = 0; i < THREADS; i++) {
        CHECK(sem_init(&go_on[i], 0, 0));
        CHECK(pthread_create(&thread, &attributes, run, (void *)i));
    }
    for (int i = 0; i < THREADS; i++)
        await(&stopped);
    while (left) {
        alarm(PATIENCE_S);
        collect();
        usleep(200);
    }
    printf("over\n");
    fflush(stdout);
    _exit(0);
}
