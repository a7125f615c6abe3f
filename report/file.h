/* Opening, reading and writing files by raw system calls, for code that runs in the user's process.
 *
 * libc's functions are cancellation points, and the library hooks them; the functions here are
 * neither. No function changes errno or raises a signal: SIGPIPE and SIGXFSZ become -EPIPE and
 * -EFBIG. No function allocates or locks. Every descriptor is close-on-exec. A descriptor for
 * writing has a high number, which programs that close or reuse low numbers leave alone. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#ifndef SC_REPORT_FILE_H
#define SC_REPORT_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Gives the open file a descriptor with a high number, above what programs use, and closes `fd`.
 * Returns the new descriptor, or -errno. */
int sc_file_move_high(int fd);

/* Writes all bytes, also after short writes and interruptions. 0 or -errno. */
int sc_file_write(int fd, const char *bytes, size_t count);

/* Writes all bytes, but returns -EAGAIN if a slow reader takes no byte for `patience_ms`, whether
 * the descriptor blocks or not: the library must not hang on a reader. */
int sc_file_write_within(int fd, const char *bytes, size_t count, unsigned patience_ms);

/* Returns true if messages may be written to `fd`: it is a terminal, a pipe, or a file opened for
 * appending. Any other file may hold data of the program. Async-signal-safe. */
bool sc_file_takes_words(int fd);

/* Tries without waiting to lock the file (flock), by which processes agree who writes a report.
 * Returns false if another open file has the lock; true also if the file system has no such locks.
 * The lock ends when the last descriptor of this open file is closed. */
bool sc_file_lock(int fd);

/* Creates a file at `path` for appending, which only its owner may read, and the missing
 * directories above it. Returns a descriptor or -errno: -EEXIST if anything is there, even a
 * symbolic link that leads nowhere. */
int sc_file_create(const char *path);

/* Opens what is at `path` with open(2)'s `flags`, for appending if it is a file. Never waits.
 * Returns a descriptor or -errno. */
int sc_file_open_existing(const char *path, int flags);

/* Returns another descriptor of the same open file (the position is shared), with a high number;
 * -errno if the file is not open for writing. */
int sc_file_duplicate(int fd);

/* Stores the status of what is at `path`; a symbolic link is not followed. Returns 0 or -errno. */
int sc_file_status(const char *path, struct stat *status);

/* Stores the status of what `fd` has open. Returns 0 or -errno. */
int sc_file_status_of(int fd, struct stat *status);

/* Removes the name from its directory (unlink), unless it is a directory's. Returns 0 or -errno. */
int sc_file_remove(const char *path);

/* Which file a descriptor has open. The library keeps it, and compares before each use: a program
 * that closes all descriptors closes the library's, too, and the next file that it opens gets the
 * same number. */
struct sc_file_identity {
    dev_t device;
    ino_t inode; /* 0: the descriptor is closed */
    uid_t owner; /* not compared */
    mode_t mode; /* not compared */
};

/* Returns the identity of the file that `fd` has open; with inode 0 if it is closed. */
struct sc_file_identity sc_file_identify(int fd);

/* Returns true if `fd` has the file of `identity` open. */
bool sc_file_is_same(int fd, const struct sc_file_identity *identity);

/* Changes the permissions of the file that `fd` has open (fchmod). Returns 0 or -errno. */
int sc_file_set_mode(int fd, mode_t mode);

/* Returns the seals of a memfd (F_GET_SEALS: what nobody may do to it any more); -errno if the
 * file cannot have seals. */
long sc_file_seals(int fd);

/* Opens a file for reading, at a path that the library itself chose. Returns a descriptor or
 * -errno. */
int sc_file_open(const char *path);

/* Opens a regular file for reading, at a path that comes from outside. Anything else is not opened,
 * since opening a device may have an effect: -EINVAL. Returns a descriptor or -errno. */
int sc_file_open_regular(const char *path);

/* Reads up to `size` bytes from `offset` on; fewer only at the end. Returns the number of bytes, or
 * -errno. */
long sc_file_read_at(int fd, void *bytes, size_t size, uint64_t offset);

/* Returns true if the file begins with `words`, by which a report is recognised. If the file is
 * shorter than `words`, its bytes are compared with the beginning of `words`. */
bool sc_file_begins(int fd, const char *words);

/* Reads a small file, such as those of /proc, into `bytes`; what does not fit is left out, and no
 * NUL is added. Returns the number of bytes, or -errno. */
long sc_file_read(const char *path, char *bytes, size_t size);

/* Returns the decimal number after `key` in the first 255 bytes of a file that the Linux kernel
 * makes up; 0 if there is no such number. `key` "": the number at the beginning of the file.
 * Async-signal-safe. */
uint64_t sc_file_number(const char *path, const char *key);

/* Opens the process's own memory as a file, where reading an unmapped page fails with -EIO. Returns
 * a descriptor or -errno. */
int sc_file_open_memory(void);

/* Copies the string at address `at` into `bytes`, through `memory` (sc_file_open_memory). Returns
 * false if the string cannot be read, or does not end within `size` bytes. */
bool sc_file_read_string(int memory, const char *at, char *bytes, size_t size);

/* Stores the absolute path that the link at `path` names; "" if the link cannot be read. */
void sc_file_link(const char *path, char *target, size_t size);

void sc_file_close(int fd); /* a negative `fd` does nothing */

/* Blocks all signals except those that the running instruction raises (SIGSEGV and its like),
 * around a lock or a write that a handler must not interrupt. Stores the former mask in
 * `before`. */
void sc_file_block_signals(sigset_t *before);

/* Sets the signal mask that sc_file_block_signals has stored. */
void sc_file_restore_signals(const sigset_t *before);

/* Calls `visit` for the entries of a folder until it returns true, and returns whether it did. At
 * most `most` entries are looked at; those whose names begin with a dot are not visited. Makes
 * system calls alone: async-signal-safe, and good for a forked child. */
typedef bool sc_file_visit(void *context, const char *folder, const char *name);
bool sc_file_each_entry(const char *folder, unsigned most, sc_file_visit *visit, void *context);

#endif
