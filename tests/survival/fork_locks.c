// expect-exit: 0
// needs: registered
// needs: kernel (madvise)
//
// Handlers of fork that were registered before the library's run closest to the fork: as locks of
// an allocator would be, that of the first is had by a thread that unmaps memory and uses what lies
// beside a buffer in flight. The one in the child, a child with that buffer in flight, uses it.
#include "in_flight.h"
#include "process.h"

#include <pthread.h>
#include <sys/mman.h>

enum { MAPPED = 256 << 10, PATIENCE_S = 60 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool about_to_fork, has_lock;
static bool waited, read_right;

static void *use_memory(void *mapped)
{
    pthread_mutex_lock(&lock);
    atomic_store(&has_lock, true);
    while (!atomic_load(&about_to_fork))
        usleep(100);
    munmap(mapped, MAPPED);
    beside.block[0]++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void prepare(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    atomic_store(&about_to_fork, true);
    waited = pthread_mutex_timedlock(&lock, &until) == 0;
}

static void in_parent(void)
{
    if (waited)
        pthread_mutex_unlock(&lock);
}

static void early_in_child(void)
{
    const volatile unsigned char *target = beside.block + EDGE;
    pthread_mutex_init(&lock, NULL);
    read_right = target[0] == 0 && target[IN_FLIGHT - 1] == 0;
    memset(beside.block, 1, EDGE + IN_FLIGHT);
    free(beside.block);
}

static void show(void)
{
    printf("child: reads %s, the other thread %s\n", read_right ? "right" : "wrong",
           waited ? "went on" : "is stuck");
    churn(100);
}

/* Before any library's constructor. */
static void register_handlers(int count, char **arguments, char **environment)
{
    (void)count, (void)arguments, (void)environment;
    pthread_atfork(prepare, in_parent, early_in_child);
}

static __attribute__((used,
                      section(".preinit_array"))) void (*const first)(int, char **,
                                                                      char **) = register_handlers;

int main(void)
{
    pthread_t thread;
    void *mapped = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    edge_start();
    CHECK(pthread_create(&thread, NULL, use_memory, mapped));
    while (!atomic_load(&has_lock))
        usleep(100);
    hold();
    in_child("child", show, 0, false);
    release();
    pthread_join(thread, NULL);
    printf("parent: %d\n", beside.block[0]);
    CHECK(cudaHostUnregister(beside.block));
    use_cuda("parent");
    return 0;
}
