// expect-exit: 0
//
// Calls that fail, or ask for far more than there is, are answered as the kernel answers them, with
// a buffer in flight beside what they name.
#include "in_flight.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>

static volatile size_t most = SIZE_MAX;
static volatile int fewer = -1, more = INT_MAX;

static void bad_pointers(int fd)
{
    char *nowhere = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *constant = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct iovec bad = {nowhere, 10};
    struct msghdr message = {.msg_iov = (struct iovec *)(void *)nowhere, .msg_iovlen = 1};
    SHOW_BESIDE(pread(fd, nowhere, 10, 0));
    SHOW_BESIDE(pread(fd, constant, 10, 0));
    SHOW_BESIDE(pwrite(fd, nowhere, 10, 0));
    SHOW_BESIDE(preadv(fd, &bad, 1, 0));
    SHOW_BESIDE(readv(fd, (struct iovec *)(void *)nowhere, 3));
    SHOW_BESIDE(getrandom(constant, 10, 0));
    SHOW_BESIDE(sendmsg(fd, (struct msghdr *)(void *)nowhere, 0));
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
    SHOW_BESIDE(sendmsg(ends[0], &message, 0));
    SHOW(send(ends[0], "x", 1, 0));
    SHOW_BESIDE(recv(ends[1], nowhere, 10, MSG_DONTWAIT));
    SHOW_BESIDE(recv(ends[1], beside.block, 10, MSG_DONTWAIT));
}

static void bad_descriptors(void)
{
    struct iovec piece = {beside.block, 10};
    SHOW_BESIDE(read(-1, beside.block, 10));
    SHOW_BESIDE(write(999, beside.block, 10));
    SHOW_BESIDE(readv(999, &piece, 1));
    SHOW_BESIDE(recv(999, beside.block, 10, 0));
}

/* What is there is less than what is asked for, and the rest is not the program's. */
static void large(int fd)
{
    struct iovec piece = {beside.block, 10};
    SHOW_BESIDE(pread(fd, beside.block, 0, 0));
    SHOW_BESIDE(pread(fd, beside.block, 100, 0));
    SHOW_BESIDE(pread(fd, beside.block, most, 0));
    SHOW_BESIDE(pwrite(fd, beside.block, most, 0));
    SHOW_BESIDE(readv(fd, &piece, fewer));
    SHOW_BESIDE(readv(fd, &piece, more));
    SHOW_BESIDE(readv(fd, &piece, 0));
}

/* A large size that stays within what is mapped, no byte of it in flight. */
static void large_and_mapped(int fd)
{
    size_t size = (size_t)3 << 30;
    char *room = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    SHOW_BESIDE(pread(fd, room, size, 0));
    SHOW(room[9]);
    munmap(room, size);
}

int main(void)
{
    edge_start();
    int fd = memfd_create("errors", 0);
    CHECK(pwrite(fd, "0123456789", 10, 0) - 10);
    bad_descriptors();
    bad_pointers(fd);
    large(fd);
    large_and_mapped(fd);
    return 0;
}
