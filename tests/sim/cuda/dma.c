/*
 * Access to the program's own mappings as a device has it: no fault, no regard for mprotect.
 *
 * process_vm_readv serves what is mapped and accessible. What page protection hides is reached
 * through /proc/self/mem, which honours no protection of private memory. What is not mapped any
 * more is read from the pages that cuMemHostRegister pinned (pin.c), where it did, and otherwise
 * left alone. The file is opened for each use: a program that closes descriptors it does not know
 * must not make the device write into a file of its own.
 *
 * The calls go past the C library: what is asked there is what the program has the kernel touch.
 */
#include "memory.h"
#include "track/kernel.h"
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

static void read_hidden(char *to, uintptr_t from, size_t bytes)
{
    int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    while (bytes > 0) {
        ssize_t n = fd >= 0 ? pread(fd, to, bytes, (off_t)from) : -1;
        if (n <= 0) {
            n = (ssize_t)to_next_page(from, bytes);
            sim_pin_read(to, from, (size_t)n);
        }
        to += n;
        from += (size_t)n;
        bytes -= (size_t)n;
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void write_hidden(uintptr_t to, const char *from, size_t bytes)
{
    int fd = open("/proc/self/mem", O_WRONLY | O_CLOEXEC);
    while (bytes > 0) {
        ssize_t n = fd >= 0 ? pwrite(fd, from, bytes, (off_t)to) : -1;
        if (n <= 0) {
            n = (ssize_t)to_next_page(to, bytes); /* lands nowhere */
        }
        to += (size_t)n;
        from += n;
        bytes -= (size_t)n;
    }
    if (fd >= 0) {
        close(fd);
    }
}

void sim_dma_read(void *to, uintptr_t from, size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(void *)from, bytes};
    long n = sc_kernel_call(SYS_process_vm_readv, own_pid(), &local, 1, &remote, 1, 0);
    size_t done = n > 0 ? (size_t)n : 0;
    if (done < bytes) {
        read_hidden((char *)to + done, from + done, bytes - done);
    }
}

/* The program's memory is the local side, which valgrind then knows to be written. */
void sim_dma_write(uintptr_t to, const void *from, size_t bytes)
{
    struct iovec local = {(void *)to, bytes}, remote = {(void *)(uintptr_t)from, bytes};
    long n = sc_kernel_call(SYS_process_vm_readv, own_pid(), &local, 1, &remote, 1, 0);
    size_t done = n > 0 ? (size_t)n : 0;
    if (done < bytes) {
        write_hidden(to + done, (const char *)from + done, bytes - done);
    }
}
