// expect-exit: 0
//
// A process reads and writes its own memory as if it were another's, as those do that ask what is
// accessible: beside a copy in flight, on the pages that it uses.
#include "survival.h"

#include <sys/syscall.h>
#include <sys/uio.h>

enum { BYTES = 256 << 10, FIRST = 64 << 10, COPIED = 64 << 10, INSIDE = 100 };

static unsigned char own[BYTES];

static void show(const char *what, ssize_t moved)
{
    printf("%s: %zd, %d\n", what, moved, moved < 0 ? errno : 0);
}

/* The copied bytes begin some way into a page, and end some way into one. */
static void ask(unsigned char *pinned, pid_t pid)
{
    unsigned char *page = pinned + FIRST;
    struct iovec here = {own, 50};
    struct iovec before = {page, 50};
    struct iovec around[] = {{pinned, 10}, {page, 20}, {page + INSIDE + COPIED, 20}};
    struct iovec hole[] = {{page, 20}, {(void *)(uintptr_t)16, 10}, {pinned, 20}};
    show("read", process_vm_readv(pid, &here, 1, &before, 1, 0));
    show("write", process_vm_writev(pid, &here, 1, &before, 1, 0));
    show("read of three", process_vm_readv(pid, &here, 1, around, 3, 0));
    show("read with a hole", process_vm_readv(pid, &here, 1, hole, 3, 0));
    show("read by number", syscall(SYS_process_vm_readv, (long)pid, &here, 1L, &before, 1L, 0L));
    show("read of nothing", process_vm_readv(pid, &here, 1, NULL, 0, 0));
}

int main(void)
{
    cudaStream_t stream = NULL;
    unsigned char *device = NULL;
    unsigned char *pinned = NULL;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc((void **)&device, BYTES));
    CHECK(cudaMallocHost((void **)&pinned, BYTES));
    memset(pinned, 5, BYTES);
    for (int i = 0; i < 4; i++) {
        if (i % 2)
            CHECK(cudaMemcpyAsync(device, pinned + FIRST + INSIDE, COPIED, cudaMemcpyHostToDevice,
                                  stream));
        else
            CHECK(cudaMemcpyAsync(pinned + FIRST + INSIDE, device, COPIED, cudaMemcpyDeviceToHost,
                                  stream));
        ask(pinned, i < 2 ? getpid() : gettid());
        CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    return 0;
}
