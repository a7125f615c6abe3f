/* libc's functions once more, made of system calls by number, as tcmalloc makes mmap: what stands
 * behind the library and leads back into it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t at)
{
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, at);
}

int munmap(void *address, size_t size)
{
    return (int)syscall(SYS_munmap, address, size);
}

void *mremap(void *address, size_t old_size, size_t new_size, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    void *target = va_arg(more, void *);
    va_end(more);
    return (void *)syscall(SYS_mremap, address, old_size, new_size, flags, target);
}

int mprotect(void *address, size_t size, int protection)
{
    return (int)syscall(SYS_mprotect, address, size, protection);
}

int execve(const char *path, char *const arguments[], char *const environment[])
{
    return (int)syscall(SYS_execve, path, arguments, environment);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return (int)syscall(SYS_rt_sigprocmask, how, set, old, 8L);
}

ssize_t read(int fd, void *into, size_t size)
{
    return syscall(SYS_read, fd, into, size);
}

void _exit(int status)
{
    for (;;)
        syscall(SYS_exit_group, status);
}
