// expect-exit: 0
//
// A program writes into its own memory through /proc/self/mem, as debuggers and patchers of code
// do: beside copies in flight, on the pages that they use. What may not be written fails alike.
#include "survival.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum {
    BYTES = 256 << 10,
    FIRST = 64 << 10,
    COPIED = 64 << 10,
    INSIDE = 100,
    ROUNDS = 4,
    KINDS = 8
};

static unsigned char own[INSIDE];

static ssize_t positioned(int fd, off_t at, const struct iovec *pieces, int count)
{
    if (lseek(fd, at, SEEK_SET) != at)
        return -2;
    return count ? writev(fd, pieces, count) : write(fd, own, sizeof own);
}

/* In each way, beside what is copied: before its first byte, or behind its last. */
static ssize_t put(int kind, int fd, off_t at)
{
    const struct iovec pieces[] = {{own, 40}, {own + 40, sizeof own - 40}};
    switch (kind) {
    case 0:
        return pwrite(fd, own, sizeof own, at);
    case 1:
        return positioned(fd, at, NULL, 0);
    case 2:
        return positioned(fd, at, pieces, 2);
    case 3:
        return pwritev(fd, pieces, 2, at);
    case 4:
        return pwritev2(fd, pieces, 2, at, 0);
    case 5:
        return pwrite64(fd, own, sizeof own, at);
    case 6:
        return syscall(SYS_pwrite64, (long)fd, own, sizeof own, (long)at);
    default:
        return syscall(SYS_pwritev, (long)fd, pieces, 2L, (long)at, 0L);
    }
}

static void show(const char *name, int round, int kind, ssize_t moved, const unsigned char *at)
{
    printf("%s, round %d, way %d: %zd, %d, %s\n", name, round, kind, moved, moved < 0 ? errno : 0,
           moved < 0                          ? "-"
           : memcmp(at, own, sizeof own) == 0 ? "right"
                                              : "wrong");
}

static void *device, *pinned;
static cudaStream_t stream;

static void beside_copies(const char *name)
{
    int fd = open(name, O_RDWR);
    CHECK(fd < 0);
    for (int i = 0; i < ROUNDS * KINDS; i++) {
        unsigned char *copied = (unsigned char *)pinned + FIRST + INSIDE;
        unsigned char *at = i % 4 < 2 ? copied - INSIDE : copied + COPIED;
        if (i % 2)
            CHECK(cudaMemcpyAsync(device, copied, COPIED, cudaMemcpyHostToDevice, stream));
        else
            CHECK(cudaMemcpyAsync(copied, device, COPIED, cudaMemcpyDeviceToHost, stream));
        memset(own, i + 1, sizeof own);
        ssize_t moved = put(i / ROUNDS, fd, (off_t)(uintptr_t)at);
        show(name, i % ROUNDS, i / ROUNDS, moved, at);
        CHECK(cudaStreamSynchronize(stream));
    }
    close(fd);
}

/* Shared, and never to be written: the kernel refuses it. */
static void where_nobody_writes(void)
{
    int fd = open("/proc/self/mem", O_RDWR);
    int file = open("/proc/self/exe", O_RDONLY);
    unsigned char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    CHECK(page == MAP_FAILED);
    CHECK(cudaMemcpyAsync(device, pinned, COPIED, cudaMemcpyHostToDevice, stream));
    for (int kind = 0; kind < KINDS; kind++)
        show("read-only", 0, kind, put(kind, fd, (off_t)(uintptr_t)page), page);
    CHECK(cudaStreamSynchronize(stream));
}

int main(void)
{
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaMallocHost(&pinned, BYTES));
    memset(pinned, 5, BYTES);
    beside_copies("/proc/self/mem");
    beside_copies("/proc/thread-self/mem");
    where_nobody_writes();
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    return 0;
}
