// expect-exit: 23
// preload-also: by_number
//
// A library that stands behind ours makes libc's functions of system calls by number, and so leads
// back to us.
#include "in_flight.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

static void mappings(void)
{
    const size_t size = 64 << 10;
    char *mapped =
        (char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(cudaHostRegister(mapped, size, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(mapped, beside.device, size, cudaMemcpyDeviceToHost, beside.stream));
    CHECK(cudaStreamSynchronize(beside.stream));
    SHOW(mapped[size - 1]);
    SHOW(mprotect(mapped, 4096, PROT_READ));
    SHOW(mprotect(mapped, 4096, PROT_READ | PROT_WRITE));
    CHECK(cudaHostUnregister(mapped));
    char *moved = (char *)mremap(mapped, size, 2 * size, MREMAP_MAYMOVE);
    SHOW(moved[size - 1]);
    SHOW(munmap(moved, 2 * size));
}

static void masks(void)
{
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    sigaddset(&set, SIGUSR1);
    SHOW(sigprocmask(SIG_BLOCK, &set, NULL));
    hold();
    *(volatile unsigned char *)beside.block = 1;
    release();
    sigemptyset(&old);
    SHOW(sigprocmask(SIG_UNBLOCK, &set, &old));
    SHOW(sigismember(&old, SIGSEGV) + sigismember(&old, SIGUSR1));
}

int main(void)
{
    static const char *const arguments[] = {"sh", "-c", "exit 9", NULL};
    int ends[2], status;
    edge_start();
    mappings();
    masks();
    CHECK(pipe(ends));
    CHECK(write(ends[1], "four", 4) - 4);
    SHOW_BESIDE(read(ends[0], beside.block, 10));
    pid_t child = fork();
    if (child == 0) {
        execve("/bin/sh", (char *const *)(uintptr_t)arguments, environ);
        _exit(1);
    }
    SHOW(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 9);
    fflush(stdout);
    _exit(23);
}
