// sim: late=1
// timeout: 300
//
// A signal handler has the kernel read and write memory beside results in flight, whatever its
// thread was doing: mostly it was allocating pinned memory.
#include "survival.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { PAGE = 4096, RESULT = 64, MANY = 16, ROUNDS = 400, SIGNALS = 200 };

static char *page;
static int source = -1, sink = -1;
static volatile sig_atomic_t came, failed;

static void use_kernel(int number)
{
    int saved = errno;
    (void)number;
    came = came + 1;
    if (came % 2)
        (*(volatile char *)(page + PAGE / 4))++; /* a fault, whose handler returns meanwhile */
    if (read(source, page + PAGE / 2, RESULT) != RESULT)
        failed = errno;
    if (write(sink, page + PAGE / 2, RESULT) != RESULT)
        failed = errno;
    errno = saved;
}

static void allocate_beside(cudaStream_t stream, const void *device)
{
    void *blocks[MANY];

    for (int i = 0; i < MANY; i++) {
        CHECK(cudaMemcpyAsync(page, device, RESULT, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaMallocHost(&blocks[i], RESULT));
    }
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < MANY; i++)
        CHECK(cudaFreeHost(blocks[i]));
}

int main(void)
{
    const struct itimerval often = {{0, 100}, {0, 100}};
    struct sigaction action = {.sa_handler = use_kernel, .sa_flags = SA_RESTART};
    cudaStream_t stream = NULL;
    void *device = NULL;

    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, RESULT));
    CHECK(cudaMallocHost((void **)&page, PAGE));
    source = open("/dev/zero", O_RDONLY);
    sink = open("/dev/null", O_WRONLY);
    CHECK(sigaction(SIGALRM, &action, NULL));
    CHECK(setitimer(ITIMER_REAL, &often, NULL));
    for (int round = 0; round < ROUNDS || came < SIGNALS; round++)
        allocate_beside(stream, device);
    CHECK(setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL));
    printf("failed: %d\n", (int)failed);
    CHECK(cudaFreeHost(page));
    CHECK(cudaFree(device));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}
