// expect-exit: 0
//
// A filter of the process's own refuses to read memory for it (process_vm_readv), by which the
// library finds what a call's arguments lead to. What lies beside a buffer in flight is read and
// written all the same, and bad pointers are refused.
#include "in_flight.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* An emulator of another processor takes no filter, and has no such call. */
static void refuse_to_read(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    struct iovec piece = {&program, 1};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    SHOW(process_vm_readv(getpid(), &piece, 1, &piece, 1, 0));
}

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
    refuse_to_read();
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
    vectors(ends[0], ends[1]);
    bad_pointers(ends[1]);
    use_cuda("after");
    return 0;
}
