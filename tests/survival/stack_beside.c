// expect-exit: 0
//
// A stack whose top shares a page with a buffer of copies, in registered and in pinned memory: a
// coroutine's that issues the copy itself, one that is entered while the copy is in flight, and a
// thread's. There is no room for a signal on a page that is protected. The contexts lie beside a
// buffer as well.
#include "in_flight.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_BYTES = (128 << 10) + 1024, BUFFER_BYTES = 100000, ARENA_BYTES = 1 << 20 };

struct arena {
    char *stack, *buffer;
    ucontext_t *here, *coroutine; /* beside a second buffer */
    char *second;
};

static struct arena arena;
static void *device;
static cudaStream_t stream;

static void lay_out(char *block)
{
    arena.stack = block;
    arena.buffer = block + STACK_BYTES;
    arena.here = (ucontext_t *)(block + (512 << 10));
    arena.coroutine = arena.here + 1;
    arena.second = (char *)(arena.here + 2);
}

static void stay(void *unused)
{
    (void)unused;
    usleep(2000);
}

static void copy(char *into, bool is_upload)
{
    CHECK(cudaLaunchHostFunc(stream, stay, NULL));
    if (is_upload)
        CHECK(cudaMemcpyAsync(device, into, BUFFER_BYTES, cudaMemcpyHostToDevice, stream));
    else
        CHECK(cudaMemcpyAsync(into, device, BUFFER_BYTES, cudaMemcpyDeviceToHost, stream));
}

static bool has_come(char *buffer)
{
    CHECK(cudaStreamSynchronize(stream));
    bool has = buffer[0] == 0x5a && buffer[BUFFER_BYTES - 1] == 0x5a;
    memset(buffer, 1, BUFFER_BYTES);
    return has;
}

static void come_and_go(void)
{
    for (;;)
        swapcontext(arena.coroutine, arena.here);
}

static void copy_within(void)
{
    for (;;) {
        copy(arena.buffer, false);
        usleep(10);
        if (!has_come(arena.buffer))
            puts("a coroutine's copy is wrong");
        swapcontext(arena.coroutine, arena.here);
    }
}

static void make(void (*function)(void))
{
    getcontext(arena.coroutine);
    arena.coroutine->uc_stack.ss_sp = arena.stack;
    arena.coroutine->uc_stack.ss_size = STACK_BYTES;
    arena.coroutine->uc_link = arena.here;
    makecontext(arena.coroutine, function, 0);
}

static void enter(void)
{
    if (swapcontext(arena.here, arena.coroutine) != 0)
        puts("not entered");
}

static void run_coroutines(void)
{
    make(copy_within);
    for (int i = 0; i < 5; i++)
        enter();
    make(come_and_go);
    for (int i = 0; i < 5; i++) {
        copy(arena.buffer, i % 2);
        enter();
        if (i % 2 == 0 && !has_come(arena.buffer))
            puts("a copy beside a coroutine is wrong");
        CHECK(cudaStreamSynchronize(stream));
        copy(arena.second, false);
        enter();
        if (!has_come(arena.second))
            puts("a copy beside a context is wrong");
    }
}

static sem_t go, done;

static void *wait_and_answer(void *unused)
{
    for (int i = 0; i < 5; i++) {
        while (sem_wait(&go) != 0)
            ;
        sem_post(&done);
    }
    return unused;
}

static void run_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, arena.stack, STACK_BYTES);
    CHECK(pthread_create(&thread, &attributes, wait_and_answer, NULL));
    for (int i = 0; i < 5; i++) {
        copy(arena.buffer, false);
        sem_post(&go);
        while (sem_wait(&done) != 0)
            ;
        if (!has_come(arena.buffer))
            puts("a copy beside a thread's stack is wrong");
    }
    pthread_join(thread, NULL);
}

static void run_in(char *block, const char *what)
{
    lay_out(block);
    run_coroutines();
    run_thread();
    puts(what);
}

int main(void)
{
    char *registered =
        mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *pinned = NULL;
    sem_init(&go, 0, 0);
    sem_init(&done, 0, 0);
    CHECK(cudaHostRegister(registered, ARENA_BYTES, cudaHostRegisterDefault));
    CHECK(cudaMallocHost((void **)&pinned, ARENA_BYTES));
    CHECK(cudaMalloc(&device, BUFFER_BYTES));
    CHECK(cudaMemset(device, 0x5a, BUFFER_BYTES));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    run_in(registered, "registered");
    run_in(pinned, "pinned");
    return 0;
}
