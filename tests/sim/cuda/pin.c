/*
 * A device keeps the pages of registered memory, whatever becomes of their mapping. Here a pipe
 * keeps them: vmsplice puts the pages themselves into it, not their contents. Pipes are few and
 * small, so that only the first ranges of up to 1 MB get one; a larger range that is unmapped
 * under a copy reads as whatever its destination already held.
 */
#include "common/kernel.h"
#include "memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PINS 32
#define MOST_BYTES ((size_t)1 << 20)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static struct pin {
    uintptr_t base;
    size_t size; /* bytes kept; 0 when unused */
    int out, in;
    ino_t inode;
} pins[PINS];
static pthread_mutex_t pins_lock = PTHREAD_MUTEX_INITIALIZER;

/* A program may have closed descriptors that it does not know, and reused their numbers. */
static bool is_ours(int fd, ino_t inode)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) && status.st_ino == inode;
}

static void close_pin(struct pin *pin)
{
    if (is_ours(pin->out, pin->inode))
        close(pin->out);
    if (is_ours(pin->in, pin->inode))
        close(pin->in);
    pin->size = 0;
}

static bool open_pipe(int ends[2], size_t bytes)
{
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    if (fcntl(ends[1], F_SETPIPE_SZ, (int)bytes) < (int)bytes) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    return true;
}

static bool fill_pin(struct pin *pin, uintptr_t base, size_t size)
{
    uintptr_t first = base & ~(uintptr_t)4095;
    size_t whole = (base + size - first + 4095) & ~(size_t)4095;
    struct iovec pages = {(void *)base, size};
    struct stat status;
    int ends[2];
    if (!open_pipe(ends, whole))
        return false;
    /* A page never written would be the shared zero page, which the next write replaces. */
    sc_kernel_call(SYS_madvise, first, whole, MADV_POPULATE_WRITE);
    long kept = sc_kernel_call(SYS_vmsplice, ends[1], &pages, 1, SPLICE_F_NONBLOCK);
    *pin = (struct pin){base, kept > 0 ? (size_t)kept : 0, ends[0], ends[1], 0};
    if (fstat(ends[0], &status) == 0)
        pin->inode = status.st_ino;
    if (pin->size == 0)
        close_pin(pin);
    return pin->size > 0;
}

int sim_pin_take(uintptr_t base, size_t size)
{
    int taken = -1;
    if (size > MOST_BYTES)
        return -1;
    pthread_mutex_lock(&pins_lock);
    for (int i = 0; i < PINS; i++) {
        if (pins[i].size == 0) {
            taken = fill_pin(&pins[i], base, size) ? i : -1;
            break;
        }
    }
    pthread_mutex_unlock(&pins_lock);
    return taken;
}

void sim_pin_drop(int pin)
{
    if (pin >= 0) {
        pthread_mutex_lock(&pins_lock);
        close_pin(&pins[pin]);
        pthread_mutex_unlock(&pins_lock);
    }
}

/* Copies the pipe by reference, then reads the copy up to the bytes wanted. */
static void read_pin(const struct pin *pin, char *to, size_t offset, size_t bytes)
{
    char skipped[4096];
    int copy[2];
    if (!is_ours(pin->out, pin->inode) || !open_pipe(copy, pin->size + 8192))
        return;
    ssize_t n = tee(pin->out, copy[1], pin->size, SPLICE_F_NONBLOCK);
    while (n > 0 && offset > 0) {
        n = read(copy[0], skipped, offset < sizeof skipped ? offset : sizeof skipped);
        offset -= n > 0 ? (size_t)n : 0;
    }
    while (n > 0 && bytes > 0) {
        n = read(copy[0], to, bytes);
        to += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    close(copy[0]);
    close(copy[1]);
}

void sim_pin_read(void *to, uintptr_t from, size_t bytes)
{
    pthread_mutex_lock(&pins_lock);
    for (int i = 0; i < PINS; i++) {
        size_t offset = from - pins[i].base;
        if (from >= pins[i].base && offset < pins[i].size) {
            size_t left = pins[i].size - offset;
            read_pin(&pins[i], to, offset, bytes < left ? bytes : left);
            break;
        }
    }
    pthread_mutex_unlock(&pins_lock);
}
