/* Files for code that lives in somebody else's process: raw system calls, nothing else.
 *
 * libc's functions are cancellation points, and the library hooks them; the functions here are
 * neither. No function changes errno or raises a signal: SIGPIPE and SIGXFSZ become -EPIPE and
 * -EFBIG. No function allocates or locks. Every descriptor is close-on-exec, and one for writing
 * has a high number.
 */
#ifndef SC_REPORT_FILE_H
#define SC_REPORT_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Gives the file a high number, and closes the one that it has. The new one or -errno. */
int sc_file_move_high(int fd);

/* Writes all bytes, over short writes and interruptions. 0 or -errno. */
int sc_file_write(int fd, const char *bytes, size_t count);

/* Writes all bytes as sc_file_write does. -EAGAIN if the reader takes no byte for `patience_ms`,
 * whether the descriptor blocks or not. */
int sc_file_write_within(int fd, const char *bytes, size_t count, unsigned patience_ms);

/* Async-signal-safe. */
bool sc_file_is_regular(int fd);

/* Is `fd` one that takes the words of anybody: a terminal, a pipe, or a file that is opened for
 * appending? Any other file may be data of the program's. Async-signal-safe. */
bool sc_file_takes_words(int fd);

/* Takes the lock of the file (flock), and waits for nobody. False: another has it. True also where
 * the file system has no such locks. Closing the last descriptor of what was opened unlocks. */
bool sc_file_lock(int fd);

/* Creates a file at `path` for appending, which its owner alone may read, and the directories that
 * are missing. A descriptor or -errno. -EEXIST if anything is there, even a symbolic link that
 * leads nowhere. */
int sc_file_create(const char *path);

/* Opens what is at `path` with open(2)'s `flags`, appending where that means anything. Waits for
 * nobody. A descriptor or -errno. */
int sc_file_open_existing(const char *path, int flags);

/* Another descriptor of the same open file, if the file may be written to; else -errno. */
int sc_file_duplicate(int fd);

/* The status of what is at `path` (a symbolic link is not followed), or of what `fd` has open.
 * 0 or -errno. */
int sc_file_status(const char *path, struct stat *status);
int sc_file_status_of(int fd, struct stat *status);

/* Takes the name away, unless it is a directory's. 0 or -errno. */
int sc_file_remove(const char *path);

/* Which file a descriptor has open. A program that closes all descriptors closes ours too, and its
 * next file gets the number. */
struct sc_file_identity {
    dev_t device;
    ino_t inode; /* 0: the descriptor is closed */
    uid_t owner; /* not compared */
    mode_t mode; /* not compared */
};
struct sc_file_identity sc_file_identify(int fd);

/* Has `fd` that file open? */
bool sc_file_is_same(int fd, const struct sc_file_identity *identity);

/* 0 or -errno. */
int sc_file_set_mode(int fd, mode_t mode);

/* The seals of a memfd (fcntl F_GET_SEALS), or -errno: what `fd` has open cannot have any. */
long sc_file_seals(int fd);

/* Opens for reading. A descriptor or -errno. For paths that the library itself names. */
int sc_file_open(const char *path);

/* Opens a regular file for reading, and nothing else: to open a device may do something to it. For
 * paths that come from outside. A descriptor or -errno: -EINVAL for what is no regular file. */
int sc_file_open_regular(const char *path);

/* Reads up to `size` bytes from `offset` on, fewer only at the end. Number of bytes, or -errno. */
long sc_file_read_at(int fd, void *bytes, size_t size, uint64_t offset);

/* Does the file begin with `words`? A shorter one does if all that it has is their beginning. */
bool sc_file_begins(int fd, const char *words);

/* Reads a small file into `bytes`, cut to size. Number of bytes, or -errno. */
long sc_file_read(const char *path, char *bytes, size_t size);

/* The number behind `key` in a small file of the kernel's, of which the first 255 bytes are looked
 * at. `key` "": the one that the file begins with. 0: there is none. Async-signal-safe. */
uint64_t sc_file_number(const char *path, const char *key);

/* Opens the process's own memory as a file. Reading what another thread has unmapped fails with
 * -EIO there. A descriptor or -errno. */
int sc_file_open_memory(void);

/* Copies the string at `at` out of `memory` (sc_file_open_memory). False if the string cannot be
 * read, or does not end within `size` bytes. */
bool sc_file_read_string(int memory, const char *at, char *bytes, size_t size);

/* The absolute path that the link at `path` names; "" if the link cannot be read. */
void sc_file_link(const char *path, char *target, size_t size);

void sc_file_close(int fd); /* less than 0: nothing happens */

/* Blocks every signal but those that the running instruction raises; restore puts `before` back. */
void sc_file_block_signals(sigset_t *before);
void sc_file_restore_signals(const sigset_t *before);

#endif
