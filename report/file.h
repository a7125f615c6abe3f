/* Files for code that lives in somebody else's process: raw system calls, nothing else.
 *
 * The libc functions are cancellation points, and later versions of libsafecopy wrap them; these
 * are neither. errno is never changed, and no signal is ever raised: SIGPIPE and SIGXFSZ, which the
 * program did not ask for when it only loaded us, become -EPIPE and -EFBIG.
 */
#ifndef SC_REPORT_FILE_H
#define SC_REPORT_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Writes all bytes, over short writes and interruptions. 0 or -errno. */
int sc_file_write(int fd, const char *bytes, size_t count);

/* The same, but -EAGAIN if no byte was taken for so long, whether the descriptor blocks or not. */
int sc_file_write_within(int fd, const char *bytes, size_t count, unsigned patience_ms);

/* Async-signal-safe. */
bool sc_file_is_regular(int fd);

/* Creates a file at `path` that its owner alone may read, for appending, and missing directories of
 * the path, with close-on-exec. A descriptor with a high number, or -errno: -EEXIST if there is
 * anything, be it a symbolic link that leads nowhere. */
int sc_file_create(const char *path);

/* Opens what is there with open(2)'s `flags`, appending where that means anything, without waiting
 * for anybody. A descriptor as above, or -errno. */
int sc_file_open_existing(const char *path, int flags);

/* A descriptor as above of the same open file, if it may be written to; else -errno. */
int sc_file_duplicate(int fd);

/* What is at `path`, a symbolic link itself; what is open. 0 or -errno. */
int sc_file_status(const char *path, struct stat *status);
int sc_file_status_of(int fd, struct stat *status);

/* Takes a name away that is not a directory's. 0 or -errno. */
int sc_file_remove(const char *path);

/* A program that closes all descriptors closes ours, and opens a file of its own under the number.
 * `inode` is 0 where the descriptor is closed. */
struct sc_file_identity {
    dev_t device;
    ino_t inode;
    uid_t owner; /* these two are not compared */
    mode_t mode;
};
struct sc_file_identity sc_file_identify(int fd);
bool sc_file_same(int fd, const struct sc_file_identity *identity);

/* Opens for reading. A descriptor or -errno. */
int sc_file_open(const char *path);

/* Reads up to `size` bytes from `offset` on, fewer only at the end. Number of bytes, or -errno. */
long sc_file_read_at(int fd, void *bytes, size_t size, uint64_t offset);

/* Reads a small file into `bytes`, cut to size. Number of bytes, or -errno. */
long sc_file_read(const char *path, char *bytes, size_t size);

/* Our memory as a file, for what another thread may be unmapping: reading there fails with -EIO. A
 * descriptor or -errno. */
int sc_file_open_memory(void);

/* The string at `at`, if it ends within `size` bytes. */
bool sc_file_read_string(int memory, const char *at, char *bytes, size_t size);

/* The absolute path that the link names; "" if it cannot be read. */
void sc_file_link(const char *path, char *target, size_t size);

void sc_file_close(int fd);

/* Blocks every signal that is not raised by the running instruction; leave restores the mask. */
void sc_file_block_signals(sigset_t *before);
void sc_file_restore_signals(const sigset_t *before);

#endif
