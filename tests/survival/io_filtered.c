// expect-exit: 0
//
// A filter of the process's own refuses to read memory for it (process_vm_readv), by which the
// library finds what a call's arguments lead to. What lies beside a buffer in flight is read and
// written all the same, and bad pointers are refused.
#include "in_flight.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "tests/sealed_reads.h"

static void vectors(int from, int to)
{
    struct iovec pieces[] = {{beside.block, 3}, {beside.block + 1000, 4}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    SHOW_BESIDE(writev(to, pieces, 2));
    SHOW_BESIDE(readv(from, pieces, 2));
    SHOW_BESIDE(sendmsg(to, &message, 0));
    SHOW_BESIDE(recvmsg(from, &message, 0));
    SHOW_BESIDE(recvmsg(from, &message, MSG_DONTWAIT));
    SHOW_BESIDE(readv(999, pieces, 2));
}

/* The vector ends where nothing is mapped, or lies where nothing may be read. */
static void bad_pointers(int to)
{
    char *pages =
        (char *)mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(pages + 4096, 4096);
    mprotect(pages + 2 * 4096, 4096, PROT_NONE);
    SHOW_BESIDE(writev(to, (struct iovec *)(void *)(pages + 4096 - sizeof(struct iovec)), 2));
    SHOW_BESIDE(writev(to, (struct iovec *)(void *)(pages + 2 * 4096), 2));
    SHOW_BESIDE(writev(to, (struct iovec *)(void *)(pages + 4096), 2));
    SHOW_BESIDE(sendmsg(to, (struct msghdr *)(void *)(pages + 4096), 0));
}

int main(void)
{
    int ends[2];
    edge_start();
    printf("sealed %d\n", seal_reads(EPERM));
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
    vectors(ends[0], ends[1]);
    bad_pointers(ends[1]);
    use_cuda("after");
    return 0;
}
