#include "common/peek.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/kernel.h"

#include "common/poison.h"

enum { READ_END = 0, WRITE_END = 1 };

/* Copies the memory by process_vm_readv, in as many calls as it takes: one copies at most
 * 0x7ffff000 bytes. Returns more than 0, or the result of the call that failed (a page that cannot
 * be read, or a system that forbids the call). */
static long read_whole(void *into, uintptr_t address, size_t size_bytes)
{
    long got = 1;
    for (size_t done = 0; done < size_bytes && got > 0; done += (size_t)got) {
        struct iovec local = {(char *)into + done, size_bytes - done};
        struct iovec remote = {(void *)(address + done), size_bytes - done};
        got = sc_kernel_call(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1);
    }
    return got;
}

/* Copies memory that may be unmapped or protected, which then raises no signal. False: not all of
 * it could be read. */
bool sc_peek(void *into, uintptr_t address, size_t size_bytes)
{
    return read_whole(into, address, size_bytes) > 0;
}

/* ---- by a pipe ---- */

/* Did the system refuse the call itself: a seccomp filter, or a Linux without the call (ENOSYS)?
 * Then memory is read through a pipe. */
static bool is_refused(long result)
{
    return result == -EPERM || result == -ENOSYS || result == -EACCES;
}

/* A pipe through which memory is read, if Linux refuses process_vm_readv. */
struct reader {
    bool has_pipe;
    int ends[2];
    uint64_t mask; /* the thread's signal mask from before: all signals are blocked while the pipe
                      is open */
};

/* Opens a pipe to read memory through: write(2) fails for memory that cannot be read, and raises
 * no signal. All signals are blocked until close_reader: a handler that does not return would
 * leave the pipe open. */
static bool open_pipe(struct reader *reader)
{
    const uint64_t all = ~UINT64_C(0);
    sc_kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &reader->mask, sizeof all);
    reader->has_pipe = sc_kernel_call(SYS_pipe2, reader->ends, O_CLOEXEC | O_NONBLOCK) == 0;
    if (!reader->has_pipe)
        sc_kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &reader->mask, NULL, sizeof all);
    return reader->has_pipe;
}

/* Ends the use of a reader: closes the pipe, if one was opened, and sets the signal mask from
 * before again. */
static void close_reader(const struct reader *reader)
{
    if (!reader->has_pipe)
        return;
    sc_kernel_call(SYS_close, reader->ends[READ_END]);
    sc_kernel_call(SYS_close, reader->ends[WRITE_END]);
    sc_kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &reader->mask, NULL, sizeof reader->mask);
}

/* Takes as many bytes out of the pipe as were just written into it. False: it had fewer, so
 * somebody else has read from the descriptor. */
static bool read_from_pipe(const struct reader *reader, char *into, size_t size_bytes)
{
    long got = 1;
    for (size_t done = 0; done < size_bytes && got > 0; done += (size_t)got)
        got = sc_kernel_call(SYS_read, reader->ends[READ_END], into + done, size_bytes - done);
    return got > 0;
}

/* Copies memory through the pipe, as much at a time as it takes. False: a part cannot be read. */
static bool move_through(const struct reader *reader, char *into, uintptr_t address,
                         size_t size_bytes)
{
    long put = 1;
    for (size_t done = 0; done < size_bytes; done += (size_t)put) {
        put = sc_kernel_call(SYS_write, reader->ends[WRITE_END], address + done, size_bytes - done);
        if (put <= 0 || !read_from_pipe(reader, into + done, (size_t)put))
            return false;
    }
    return true;
}

/* Copies memory by process_vm_readv or, once that was refused, by the pipe, which stays open for
 * the next call with this reader. */
static bool read_anyhow(struct reader *reader, void *into, uintptr_t address, size_t size_bytes)
{
    long got = reader->has_pipe ? -ENOSYS : read_whole(into, address, size_bytes);
    if (!is_refused(got))
        return got > 0;
    return (reader->has_pipe || open_pipe(reader)) &&
           move_through(reader, into, address, size_bytes);
}

/* Copies memory by process_vm_readv or, if that is refused, through a pipe that is opened for this
 * call. */
bool sc_peek_anyhow(void *into, uintptr_t address, size_t size_bytes)
{
    struct reader reader = {.has_pipe = false};
    bool read = read_anyhow(&reader, into, address, size_bytes);
    close_reader(&reader);
    return read;
}

/* ---- several places ---- */

/* Reads the items by one system call. Returns how many from the first on were read whole, or the
 * error with which the call itself is refused. Linux stops at the first item that cannot be
 * read. */
static long read_some(const struct sc_peek_item *items, unsigned count)
{
    struct iovec local[SC_PEEK_ITEMS_MAX], remote[SC_PEEK_ITEMS_MAX];
    for (unsigned i = 0; i < count; i++) {
        local[i] = (struct iovec){items[i].into, items[i].size_bytes};
        remote[i] = (struct iovec){(void *)items[i].address, items[i].size_bytes};
    }
    long got = sc_kernel_call(SYS_process_vm_readv, getpid(), local, count, remote, count);
    unsigned whole = 0;
    if (is_refused(got))
        return got;
    while (whole < count && got >= (long)items[whole].size_bytes)
        got -= (long)items[whole++].size_bytes;
    return whole;
}

/* Reads the items one by one through one pipe, since process_vm_readv is refused. Each says
 * whether it was read. */
static void read_each(struct sc_peek_item *items, unsigned count)
{
    struct reader reader = {.has_pipe = false};
    for (unsigned i = 0; i < count; i++)
        items[i].read = read_anyhow(&reader, items[i].into, items[i].address, items[i].size_bytes);
    close_reader(&reader);
}

/* Reads all items with as few system calls as possible: after an item that cannot be read, the rest
 * needs another call. */
void sc_peek_all(struct sc_peek_item *items, unsigned count)
{
    for (unsigned at = 0; at < count;) {
        long whole = read_some(items + at, count - at);
        if (whole < 0) {
            read_each(items + at, count - at);
            return;
        }
        for (unsigned end = at + (unsigned)whole; at < end; at++)
            items[at].read = true;
        if (at < count) /* the item at which the call has stopped */
            items[at++].read = false;
    }
}

/* ---- comparing ---- */

/* Blocks to read into, as stacks are small. A thread that finds no block free reads less at a time.
 * A block is lost for good if a signal handler leaves its user by a jump. */
enum { BLOCKS = 8, BLOCK_BYTES = 16384, PAGE_BYTES_MIN = 4096, STACK_BYTES = 256 };
static char blocks[BLOCKS][BLOCK_BYTES];
static _Atomic uint32_t taken_blocks; /* a bit for each block */

/* Takes a free one of the static blocks to read into; NULL: other threads have all. */
static char *take_block(void)
{
    for (uint32_t i = 0; i < BLOCKS; i++)
        if (!(atomic_fetch_or_explicit(&taken_blocks, 1u << i, memory_order_acquire) & 1u << i))
            return blocks[i];
    return NULL;
}

/* Gives a block back to the others. */
static void return_block(const char *block)
{
    uint32_t number = (uint32_t)((block - blocks[0]) / BLOCK_BYTES);
    atomic_fetch_and_explicit(&taken_blocks, ~(1u << number), memory_order_release);
}

/* Compares memory with the expected bytes, piece by piece, through the buffer `into` of
 * `most_bytes`. Memory that cannot be read counts as equal, since nobody knows that it differs: if
 * a piece cannot be read as a whole, each of its pages is compared by itself. */
static bool equals_by(struct reader *reader, char *into, size_t most_bytes, uintptr_t address,
                      const char *expected, size_t size_bytes)
{
    bool equals = true;
    for (size_t done = 0, piece; equals && done < size_bytes; done += piece) {
        piece = most_bytes - (address + done) % most_bytes; /* ends where a page does */
        if (piece > size_bytes - done)
            piece = size_bytes - done;
        if (read_anyhow(reader, into, address + done, piece))
            equals = memcmp(into, expected + done, piece) == 0;
        else if (most_bytes > PAGE_BYTES_MIN)
            equals =
                equals_by(reader, into, PAGE_BYTES_MIN, address + done, expected + done, piece);
    }
    return equals;
}

/* Is the memory what was expected? It is read into a static block if one is free, else in small
 * pieces into a buffer on the stack, which may be small. What cannot be read counts as equal. */
bool sc_peek_equals(uintptr_t address, const void *expected, size_t size_bytes)
{
    struct reader reader = {.has_pipe = false};
    char on_stack[STACK_BYTES], *block = take_block();
    bool equals = equals_by(&reader, block ? block : on_stack,
                            block ? BLOCK_BYTES : sizeof on_stack, address, expected, size_bytes);
    close_reader(&reader);
    if (block)
        return_block(block);
    return equals;
}
