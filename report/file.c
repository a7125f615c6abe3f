#define _GNU_SOURCE 1
#include "report/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "common/kernel.h"

#include "common/poison.h"

#define KERNEL(...) sc_kernel_call(__VA_ARGS__)

/* Blocks the signals whose handlers could interrupt a lock or a write of the library's and come
 * back into it. Signals of faults stay unblocked: a blocked one ends the process when an
 * instruction raises it. */
void sc_file_block_signals(sigset_t *before)
{
    static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t asynchronous;
    sigfillset(&asynchronous);
    for (size_t i = 0; i < sizeof synchronous / sizeof synchronous[0]; i++)
        sigdelset(&asynchronous, synchronous[i]);
    pthread_sigmask(SIG_BLOCK, &asynchronous, before);
}

/* Sets the signal mask that sc_file_block_signals has stored. */
void sc_file_restore_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Was the signal raised already, and is blocked? Then it is the program's, and a failed write of
 * the library's leaves it there. */
static bool is_pending(int signal)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

/* Takes back the SIGPIPE or SIGXFSZ that a failed write of the library's has raised for this
 * thread, so that the program never gets it. The caller has it blocked, so it is pending. With a
 * time of 0 the call does not wait. */
static void take_back_signal(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    const struct timespec at_once = {0, 0};
    while (KERNEL(SYS_rt_sigtimedwait, &set, NULL, &at_once, _NSIG / 8) == -EINTR)
        continue;
}

/* Returns the time of a clock that nobody sets back, for deadlines. */
static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Waits until the file can be written to. Returns false if the deadline has passed, or waiting
 * failed. Returns true also after a signal (EINTR): the caller's write then says whether it
 * can. */
static bool becomes_writable(int fd, uint64_t deadline_ms)
{
    uint64_t now = now_ms();
    if (now >= deadline_ms)
        return false;
    uint64_t left = deadline_ms - now;
    struct pollfd file = {.fd = fd, .events = POLLOUT};
    struct timespec limit = {(time_t)(left / 1000), (long)(left % 1000) * 1000000};
    long result = KERNEL(SYS_ppoll, &file, 1, &limit, NULL, 0);
    return result > 0 || result == -EINTR;
}

/* Is it a regular file, and no pipe, terminal or device? False also for a closed descriptor. */
static bool is_regular(int fd)
{
    struct stat info;
    return KERNEL(SYS_fstat, fd, &info) == 0 && S_ISREG(info.st_mode);
}

/* May messages for people be written to stderr? A pipe or a terminal has somebody who reads. A
 * regular file is meant for messages if it was opened to append, and else may be data of the
 * program's that has got the number 2. */
bool sc_file_takes_words(int fd)
{
    struct stat info;
    struct termios terminal;
    if (KERNEL(SYS_fstat, fd, &info) != 0)
        return false;
    switch (info.st_mode & S_IFMT) {
    case S_IFIFO:
        return true;
    case S_IFCHR:
        return KERNEL(SYS_ioctl, fd, TCGETS, &terminal) == 0;
    case S_IFREG:
        return KERNEL(SYS_fcntl, fd, F_GETFL) & O_APPEND;
    default:
        return false;
    }
}

/* Writes all bytes. With `patience_ms` the library must not hang on a reader that has stopped: a
 * pipe or terminal is asked before each piece whether it takes any. A pipe that is ready takes
 * PIPE_BUF bytes without blocking, so no piece is larger. A regular file gets the whole line in
 * one write, so that lines of several processes do not mix. */
static int write_all(int fd, const char *bytes, size_t count, unsigned patience_ms)
{
    uint64_t deadline_ms = 0; /* 0: the reader has taken bytes since the last wait */
    bool in_pieces = patience_ms > 0 && !is_regular(fd);
    while (count > 0) {
        size_t piece = in_pieces && count > PIPE_BUF ? PIPE_BUF : count;
        if (in_pieces && deadline_ms == 0 && !becomes_writable(fd, now_ms() + patience_ms))
            return -EAGAIN;
        long written = KERNEL(SYS_write, fd, bytes, piece);
        if (written == -EINTR)
            continue;
        if (written == -EAGAIN && patience_ms > 0) {
            deadline_ms = deadline_ms != 0 ? deadline_ms : now_ms() + patience_ms;
            if (becomes_writable(fd, deadline_ms))
                continue;
        }
        if (written < 0)
            return (int)written;
        deadline_ms = 0;
        bytes += written;
        count -= (size_t)written;
    }
    return 0;
}

/* Writes the bytes within `patience_ms`. A failed write raises SIGPIPE or SIGXFSZ, which would end
 * a program that knows nothing of the report. So the signal is taken back, unless it was pending
 * before: then it is the program's. */
int sc_file_write_within(int fd, const char *bytes, size_t count, unsigned patience_ms)
{
    sigset_t before;
    sc_file_block_signals(&before);
    bool pipe_was_pending = is_pending(SIGPIPE);
    bool size_was_pending = is_pending(SIGXFSZ);
    int result = write_all(fd, bytes, count, patience_ms);
    if (result == -EPIPE && !pipe_was_pending)
        take_back_signal(SIGPIPE);
    if (result == -EFBIG && !size_was_pending)
        take_back_signal(SIGXFSZ);
    sc_file_restore_signals(&before);
    return result;
}

/* Writes all bytes and waits for a slow reader as long as it takes. */
int sc_file_write(int fd, const char *bytes, size_t count)
{
    return sc_file_write_within(fd, bytes, count, 0);
}

/* Tries to become the only process that writes the file. A file system without such locks answers
 * with another error, which counts as locked. */
bool sc_file_lock(int fd)
{
    return KERNEL(SYS_flock, fd, LOCK_EX | LOCK_NB) != -EWOULDBLOCK;
}

/* Makes the missing folders above the path. 0 or -errno. A folder that exists is passed by. */
static int make_parents(const char *path)
{
    char parent[4096];
    size_t length = strlen(path);
    if (length >= sizeof parent)
        return -ENAMETOOLONG;
    for (size_t i = 1; i < length; i++) {
        if (path[i] != '/')
            continue;
        memcpy(parent, path, i);
        parent[i] = '\0';
        long result = KERNEL(SYS_mkdirat, AT_FDCWD, parent, 0777);
        if (result < 0 && result != -EEXIST && result != -EISDIR)
            return (int)result;
    }
    return 0;
}

/* Creates the file, which must not exist. With O_EXCL nobody can leave a symbolic link there that
 * leads the report into another file. */
static long open_new(const char *path)
{
    return KERNEL(SYS_openat, AT_FDCWD, path,
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
}

/* Returns a duplicate with a number above what programs use, so that the program's own files keep
 * the numbers that they have without us. A program that was started without stderr must not get
 * the report under its number 2. If the limit on descriptors forbids 200, any number above
 * stderr's serves. */
static int duplicate_high(int fd)
{
    long high = KERNEL(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 200);
    if (high < 0)
        high = KERNEL(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
    return (int)high;
}

/* Gives a file that was just opened a high number, and frees the low one, which the program's next
 * file would have got without us. */
int sc_file_move_high(int fd)
{
    int high = duplicate_high(fd);
    sc_file_close(fd);
    return high;
}

/* Creates the report's file. Folders above it are made only if the file cannot be made without. */
int sc_file_create(const char *path)
{
    long fd = open_new(path);
    if (fd == -ENOENT) {
        int made = make_parents(path);
        if (made != 0)
            return made;
        fd = open_new(path);
    }
    return fd < 0 ? (int)fd : sc_file_move_high((int)fd);
}

/* lstat as a function that returns -errno and leaves the program's errno alone. */
int sc_file_status(const char *path, struct stat *status)
{
    int errno_before = errno;
    int result = lstat(path, status) == 0 ? 0 : -errno;
    errno = errno_before;
    return result;
}

/* fstat as a function that returns -errno and leaves the program's errno alone. */
int sc_file_status_of(int fd, struct stat *status)
{
    int errno_before = errno;
    int result = fstat(fd, status) == 0 ? 0 : -errno;
    errno = errno_before;
    return result;
}

/* Opens a file that exists. O_NONBLOCK: a FIFO without a reader is refused instead of waited
 * for. */
int sc_file_open_existing(const char *path, int flags)
{
    long fd =
        KERNEL(SYS_openat, AT_FDCWD, path, flags | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0);
    return fd < 0 ? (int)fd : sc_file_move_high((int)fd);
}

/* Returns a further descriptor of a file that the program has open for writing, with a high
 * number. */
int sc_file_duplicate(int fd)
{
    long flags = KERNEL(SYS_fcntl, fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    return duplicate_high(fd);
}

/* Removes the file's name (unlink); fails for a folder. */
int sc_file_remove(const char *path)
{
    return (int)KERNEL(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* Does the descriptor still have this file open? A program that closes all descriptors closes the
 * library's, too, and its next file gets the number. */
bool sc_file_is_same(int fd, const struct sc_file_identity *identity)
{
    struct sc_file_identity now = sc_file_identify(fd);
    return now.inode != 0 && now.device == identity->device && now.inode == identity->inode;
}

/* Returns which file the descriptor has open, to compare with later (sc_file_is_same); inode 0 if
 * it is closed. */
struct sc_file_identity sc_file_identify(int fd)
{
    struct stat status;
    if (sc_file_status_of(fd, &status) != 0)
        return (struct sc_file_identity){0};
    return (struct sc_file_identity){status.st_dev, status.st_ino, status.st_uid, status.st_mode};
}

/* Returns the seals of the memfd: what nobody may do to it any more. -errno: the file has no
 * seals. */
long sc_file_seals(int fd)
{
    return KERNEL(SYS_fcntl, fd, F_GET_SEALS);
}

/* fchmod by a raw system call: 0 or -errno. */
int sc_file_set_mode(int fd, mode_t mode)
{
    return (int)KERNEL(SYS_fchmod, fd, mode);
}

/* Opens a file for reading, by a system call that no hook of the library sees. O_NONBLOCK: a FIFO
 * does not make it wait. */
int sc_file_open(const char *path)
{
    return (int)KERNEL(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
}

/* Opens the path for reading if it is a regular file, since opening a device or a FIFO may have an
 * effect. Another file may be at the path by the time it is opened, so the open file is checked
 * again. */
int sc_file_open_regular(const char *path)
{
    struct stat status;
    long result = KERNEL(SYS_newfstatat, AT_FDCWD, path, &status, 0);
    if (result < 0)
        return (int)result;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    int fd = sc_file_open(path);
    if (fd < 0 || is_regular(fd))
        return fd;
    sc_file_close(fd);
    return -EINVAL;
}

/* Reads on after an interrupted or short read, until `size` bytes or the end of the file. */
long sc_file_read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
    size_t used = 0;
    while (used < size) {
        long count = KERNEL(SYS_pread64, fd, (char *)bytes + used, size - used, offset + used);
        if (count == -EINTR)
            continue;
        if (count < 0)
            return count;
        if (count == 0)
            break;
        used += (size_t)count;
    }
    return (long)used;
}

/* Does the file begin with these words? It tells whether the file is an earlier report of ours,
 * which may be replaced. A shorter file does if all its bytes agree, so an empty one always
 * does. */
bool sc_file_begins(int fd, const char *words)
{
    char bytes[64];
    size_t length = strlen(words);
    long size = sc_file_read_at(fd, bytes, length < sizeof bytes ? length : sizeof bytes, 0);
    return size >= 0 && memcmp(bytes, words, (size_t)size) == 0;
}

/* Reads on until `size` bytes or the end: files of /proc come in pieces. */
long sc_file_read(const char *path, char *bytes, size_t size)
{
    int fd = sc_file_open(path);
    if (fd < 0)
        return fd;
    size_t used = 0;
    long count = 0;
    while (used < size) {
        count = KERNEL(SYS_read, fd, bytes + used, size - used);
        if (count == -EINTR)
            continue;
        if (count <= 0)
            break;
        used += (size_t)count;
    }
    sc_file_close(fd);
    return count < 0 ? count : (long)used;
}

/* Returns the decimal number after the first `key` in a small file of the kernel's (in /proc,
 * /sys); "" means the file's beginning. Returns 0 if there is none, or no file. */
uint64_t sc_file_number(const char *path, const char *key)
{
    char text[256];
    uint64_t number = 0;
    long size = sc_file_read(path, text, sizeof text - 1);
    text[size > 0 ? size : 0] = '\0';
    const char *at = strstr(text, key);
    for (at = at ? at + strlen(key) : ""; *at == ' ' || *at == '\t';)
        at++;
    for (; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

/* Opens the process's own memory as a file: a read of what is not mapped fails there and raises no
 * signal. */
int sc_file_open_memory(void)
{
    return sc_file_open("/proc/self/mem");
}

/* Copies a string through /proc/self/mem. Reads up to the end of a page at a time, since the next
 * page may not be mapped. False also if the string does not end within `size` bytes. */
bool sc_file_read_string(int memory, const char *at, char *bytes, size_t size)
{
    enum { PAGE = 4096 };
    size_t used = 0;
    while (memory >= 0 && used < size) {
        size_t part = PAGE - ((uintptr_t)at + used) % PAGE;
        part = part < size - used ? part : size - used;
        if (sc_file_read_at(memory, bytes + used, part, (uintptr_t)at + used) != (long)part)
            return false;
        if (memchr(bytes + used, '\0', part))
            return true;
        used += part;
    }
    return false;
}

/* Stores what a symbolic link leads to ("" if it cannot be read), as for /proc/self/exe. */
void sc_file_link(const char *path, char *target, size_t size)
{
    long length = KERNEL(SYS_readlinkat, AT_FDCWD, path, target, size - 1);
    target[length < 0 ? 0 : length] = '\0';
}

/* Closes the descriptor; a negative one, from an open that failed, is passed by. */
void sc_file_close(int fd)
{
    if (fd >= 0)
        (void)KERNEL(SYS_close, fd);
}

/* Calls `visit` for the folder's entries until it returns true, and returns whether it did. At
 * most `most` entries are looked at, so that a huge folder ends; those that begin with a dot ("."
 * and "..") are not visited. Not by opendir, which allocates. */
bool sc_file_each_entry(const char *folder, unsigned most, sc_file_visit *visit, void *context)
{
    enum { ENTRIES_BYTES = 1024 };
    _Alignas(struct dirent64) char entries[ENTRIES_BYTES];
    bool is_over = false;
    long size;
    long fd = sc_kernel_call(SYS_openat, AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (!is_over && most > 0 &&
           (size = sc_kernel_call(SYS_getdents64, fd, entries, sizeof entries)) > 0)
        for (long at = 0; at < size && !is_over && most > 0; most--) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            is_over = entry->d_name[0] != '.' && visit(context, folder, entry->d_name);
            at += entry->d_reclen;
        }
    sc_kernel_call(SYS_close, fd);
    return is_over;
}
