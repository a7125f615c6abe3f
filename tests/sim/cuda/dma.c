/*
 * Access to the program's own mappings as a device has it: no fault, no regard for mprotect.
 *
 * process_vm_readv serves what is mapped and accessible. What page protection hides is reached
 * through /proc/self/mem, which honours no protection of private memory. What is not mapped any
 * more is read from the pages that cuMemHostRegister pinned (pin.c), where it did, and otherwise
 * left alone. The file is opened for each use: a program that closes descriptors it does not know
 * must not make the device write into a file of its own.
 *
 * A device makes no system calls that a preloaded library could see, and take for the program's: so
 * none of these goes through libc.
 */
#include "common/kernel.h"
#include "memory.h"
#include "work.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE ((uintptr_t)4096)

/* Asked for once: where the answer would change, in a forked child, nothing runs. */
static pid_t own_pid(void)
{
    static _Atomic pid_t pid;
    pid_t known = atomic_load_explicit(&pid, memory_order_relaxed);
    if (known == 0) {
        known = getpid();
        atomic_store_explicit(&pid, known, memory_order_relaxed);
    }
    return known;
}

static size_t to_next_page(uintptr_t address, size_t most)
{
    size_t left = PAGE - (address & (PAGE - 1));
    return left < most ? left : most;
}

/* A descriptor, or negative. */
static int open_memory(int flags)
{
    return (int)sc_kernel_call(SYS_openat, AT_FDCWD, "/proc/self/mem", flags | O_CLOEXEC);
}

static void close_memory(int fd)
{
    if (fd >= 0)
        sc_kernel_call(SYS_close, fd);
}

static void read_hidden(char *to, uintptr_t from, size_t bytes)
{
    int fd = open_memory(O_RDONLY);
    while (bytes > 0) {
        long n = fd >= 0 ? sc_kernel_call(SYS_pread64, fd, to, bytes, from) : -1;
        if (n <= 0) {
            n = (long)to_next_page(from, bytes);
            sim_pin_read(to, from, (size_t)n);
        }
        to += n;
        from += (size_t)n;
        bytes -= (size_t)n;
    }
    close_memory(fd);
}

static void write_hidden(uintptr_t to, const char *from, size_t bytes)
{
    int fd = open_memory(O_WRONLY);
    while (bytes > 0) {
        long n = fd >= 0 ? sc_kernel_call(SYS_pwrite64, fd, from, bytes, to) : -1;
        if (n <= 0)
            n = (long)to_next_page(to, bytes); /* lands nowhere */
        to += (size_t)n;
        from += n;
        bytes -= (size_t)n;
    }
    close_memory(fd);
}

void sim_dma_read(void *to, uintptr_t from, size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(void *)from, bytes};
    long n = sc_kernel_call(SYS_process_vm_readv, own_pid(), &local, 1, &remote, 1, 0);
    size_t done = n > 0 ? (size_t)n : 0;
    if (done < bytes)
        read_hidden((char *)to + done, from + done, bytes - done);
}

/* The program's memory is the local side, which valgrind then knows to be written. */
void sim_dma_write(uintptr_t to, const void *from, size_t bytes)
{
    struct iovec local = {(void *)to, bytes}, remote = {(void *)(uintptr_t)from, bytes};
    long n = sc_kernel_call(SYS_process_vm_readv, own_pid(), &local, 1, &remote, 1, 0);
    size_t done = n > 0 ? (size_t)n : 0;
    if (done < bytes)
        write_hidden(to + done, (const char *)from + done, bytes - done);
}
