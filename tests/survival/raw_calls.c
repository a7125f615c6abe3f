// expect-exit: 41
//
// System calls by number, through syscall(): on memory beside a buffer in flight, of masks and
// signals, of mappings, of children, and the one that ends the process.
#include "in_flight.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

struct edge {
    char bytes[256];
    struct iovec pieces[2];
    struct msghdr message;
    struct timespec soon;
    struct stat stat;
    int word, second, status;
    uint64_t set, action[4];
    siginfo_t info;
};

static struct edge *edge;

static void files(void)
{
    long fd = syscall(SYS_memfd_create, "raw", 0);
    memset(edge->bytes, 'r', sizeof edge->bytes);
    edge->pieces[0] = (struct iovec){edge->bytes, 10};
    edge->pieces[1] = (struct iovec){edge->bytes + 20, 30};
    SHOW_BESIDE(syscall(SYS_write, fd, edge->bytes, 200));
    SHOW_BESIDE(syscall(SYS_pwrite64, fd, edge->bytes, 5, 200));
    SHOW_BESIDE(syscall(SYS_pwritev, fd, edge->pieces, 2, 300, 0));
    SHOW_BESIDE(syscall(SYS_preadv2, fd, edge->pieces, 2, 0, 0, 0));
    SHOW_BESIDE(syscall(SYS_pread64, fd, edge->bytes, 100, 100));
    SHOW_BESIDE(syscall(SYS_lseek, fd, 0, SEEK_SET));
    SHOW_BESIDE(syscall(SYS_read, fd, edge->bytes, 100));
    SHOW_BESIDE(syscall(SYS_fstat, fd, &edge->stat));
    SHOW(edge->stat.st_size);
    strcpy(edge->bytes, "/");
    SHOW_BESIDE(syscall(SYS_newfstatat, AT_FDCWD, edge->bytes, &edge->stat, 0));
    SHOW_BESIDE(syscall(SYS_faccessat, AT_FDCWD, edge->bytes, R_OK));
    SHOW_BESIDE(syscall(SYS_getcwd, edge->bytes, sizeof edge->bytes) > 0);
    SHOW_BESIDE(syscall(SYS_getrandom, edge->bytes, 16, 0));
    SHOW_BESIDE(syscall(SYS_close, fd));
    SHOW_BESIDE(syscall(SYS_read, fd, edge->bytes, 100));
    SHOW_BESIDE(syscall(SYS_write, 1, (void *)8, 100));
    SHOW_BESIDE(syscall(100000, 1, 2, 3, 4, 5, 6));
}

static void sockets(void)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
    edge->message = (struct msghdr){.msg_iov = edge->pieces, .msg_iovlen = 2};
    SHOW_BESIDE(syscall(SYS_sendmsg, ends[0], &edge->message, 0));
    SHOW_BESIDE(syscall(SYS_recvmsg, ends[1], &edge->message, 0));
    SHOW_BESIDE(syscall(SYS_sendto, ends[0], edge->bytes, 60, 0, NULL, 0));
    SHOW_BESIDE(syscall(SYS_recvfrom, ends[1], edge->bytes, 256, 0, NULL, NULL));
    close(ends[0]);
    close(ends[1]);
}

static void futexes(void)
{
    edge->soon = (struct timespec){0, 1000000};
    SHOW_BESIDE(syscall(SYS_futex, &edge->word, FUTEX_WAIT_PRIVATE, 0, &edge->soon, NULL, 0));
    SHOW_BESIDE(syscall(SYS_futex, &edge->word, FUTEX_WAIT, 1, NULL, NULL, 0));
    SHOW_BESIDE(syscall(SYS_futex, &edge->word, FUTEX_WAKE, 1, NULL, NULL, 0));
    SHOW_BESIDE(syscall(SYS_futex, &edge->word, FUTEX_CMP_REQUEUE, 1, 1L, &edge->second, 0));
    SHOW_BESIDE(syscall(SYS_futex, &edge->word, FUTEX_CMP_REQUEUE, 1, 1L, &edge->second, 9));
    SHOW_BESIDE(syscall(SYS_futex, (void *)8, FUTEX_WAIT, 0, NULL, NULL, 0));
}

/* ---- masks ---- */

static uint64_t bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

static uint64_t now_blocked(void)
{
    uint64_t mask = 0;
    CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask));
    return mask & (bit(SIGSEGV) | bit(SIGUSR1));
}

static void touch_beside(void)
{
    hold();
    *(volatile char *)edge->bytes = 'm';
    release();
}

/* What libc keeps for itself, 32 and 33, is left out. */
static void masks(void)
{
    uint64_t mask = bit(SIGSEGV) | bit(SIGUSR1);
    uint64_t old = 0;
    sigset_t libc;
    SHOW(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, &old, sizeof mask));
    SHOW(old == 0);
    SHOW(now_blocked() == mask);
    touch_beside();
    CHECK(sigprocmask(SIG_BLOCK, NULL, &libc));
    SHOW(sigismember(&libc, SIGSEGV) + sigismember(&libc, SIGUSR1));
    mask = bit(SIGSEGV);
    SHOW(syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, &old, sizeof mask));
    SHOW((old & bit(SIGSEGV)) != 0);
    SHOW(now_blocked() == bit(SIGUSR1));
    mask = ~UINT64_C(0);
    SHOW(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask));
    touch_beside();
    SHOW((now_blocked() & bit(SIGSEGV)) != 0);
    mask = 0;
    SHOW(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &old, sizeof mask));
    SHOW((old | bit(32) | bit(33)) == (~UINT64_C(0) & ~(bit(SIGKILL) | bit(SIGSTOP))));
    SHOW(now_blocked());
    SHOW(syscall(SYS_rt_sigprocmask, 77, &mask, NULL, sizeof mask) == -1 && errno == EINVAL);
    SHOW(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, 16) == -1 && errno == EINVAL);
    SHOW(syscall(SYS_rt_sigprocmask, SIG_BLOCK, (void *)8, NULL, 8) == -1 && errno == EFAULT);
    SHOW(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, (void *)8, 8) == -1 && errno == EFAULT);
}

static void note(int number)
{
    printf("handled %d\n", number);
}

static void tell(int code)
{
    memset(&edge->info, 0, sizeof edge->info);
    edge->info.si_code = code;
    edge->info.si_value.sival_int = 31;
}

/* No signal is sent to the process: the driver's threads would take it. */
static void signals(void)
{
    CHECK(signal(SIGUSR1, note) == SIG_ERR);
    edge->set = bit(SIGUSR1);
    edge->soon = (struct timespec){0, 1000};
    CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &edge->set, NULL, sizeof edge->set));
    SHOW_BESIDE(syscall(SYS_rt_sigtimedwait, &edge->set, &edge->info, &edge->soon, 8));
    tell(SI_QUEUE);
    SHOW_BESIDE(syscall(SYS_rt_sigqueueinfo, getpid(), 0, &edge->info));
    SHOW_BESIDE(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGUSR1, &edge->info));
    SHOW_BESIDE(syscall(SYS_rt_sigpending, &edge->set, sizeof edge->set));
    SHOW(edge->set == bit(SIGUSR1));
    SHOW_BESIDE(syscall(SYS_rt_sigtimedwait, &edge->set, &edge->info, NULL, 8));
    SHOW(edge->info.si_value.sival_int);
    tell(SI_TIMER);
    SHOW_BESIDE(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGUSR1, &edge->info));
    edge->set = 0;
    SHOW_BESIDE(syscall(SYS_rt_sigsuspend, &edge->set, sizeof edge->set));
    SHOW_BESIDE(syscall(SYS_rt_sigaction, SIGUSR2, NULL, edge->action, 8));
    edge->action[0] = (uintptr_t)SIG_IGN;
    SHOW_BESIDE(syscall(SYS_rt_sigaction, SIGUSR2, edge->action, NULL, 8));
    SHOW(raise(SIGUSR2));
    SHOW_BESIDE(syscall(SYS_rt_sigpending, (void *)8, sizeof edge->set));
}

/* ---- mappings, on some of which something is registered ---- */

static void mappings(void)
{
    const size_t size = 64 << 10;
    char *mapped = (char *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(mapped, 1, size);
    CHECK(cudaHostRegister(mapped, size, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(mapped, beside.device, size, cudaMemcpyDeviceToHost, beside.stream));
    CHECK(cudaStreamSynchronize(beside.stream));
    SHOW(mapped[size - 1]);
    SHOW(syscall(SYS_mprotect, mapped, 4096, PROT_READ));
    SHOW(syscall(SYS_mprotect, mapped, 4096, PROT_READ | PROT_WRITE));
    CHECK(cudaHostUnregister(mapped));
    char *moved = (char *)syscall(SYS_mremap, mapped, size, 2 * size, MREMAP_MAYMOVE);
    SHOW(moved[size - 1]);
    SHOW(syscall(SYS_munmap, moved, 2 * size));
    SHOW(syscall(SYS_munmap, moved + 1, size) == -1 && errno == EINVAL);
    SHOW(syscall(SYS_mmap, NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -1 &&
         errno == EINVAL);
}

/* ---- children ---- */

static void children(void)
{
    long process = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (process == 0)
        syscall(SYS_exit_group, 7);
    SHOW_BESIDE(syscall(SYS_wait4, process, &edge->status, 0, NULL) == process);
    SHOW(WEXITSTATUS(edge->status));
    static const char *const arguments[] = {"sh", "-c", "exit 9", NULL};
    static const char *const environment[] = {NULL};
    process = fork();
    if (process == 0) {
        syscall(SYS_execve, "/bin/sh", arguments, environment);
        _exit(1);
    }
    SHOW_BESIDE(syscall(SYS_wait4, process, &edge->status, 0, NULL) == process);
    SHOW(WEXITSTATUS(edge->status));
    SHOW(syscall(SYS_execve, "/nowhere", arguments, environment) == -1 && errno == ENOENT);
}

int main(void)
{
    edge = (struct edge *)edge_start();
    _Static_assert(sizeof *edge <= EDGE, "lies beside the buffer");
    files();
    sockets();
    signals();
    masks();
    futexes(); /* its page is guarded no more */
    mappings();
    children();
    fflush(stdout);
    return (int)syscall(SYS_exit_group, 41);
}
