/* Replaces the pipe of libunwind. libunwind checks whether memory can be read by writing a byte of
 * it into a pipe that it keeps open. A program may close descriptors that it does not know
 * (closefrom), and open files that get their numbers, which libunwind would then read, write and
 * close. So the library emulates the pipe: libunwind opens no descriptor, and the program's files
 * get the numbers that they have without the library.
 *
 * Thread-safe; async-signal-safe except for sc_unwinder_pipe_note. */
#ifndef SC_INTERPOSE_BASE_UNWINDER_PIPE_H
#define SC_INTERPOSE_BASE_UNWINDER_PIPE_H

#include <stdbool.h>

/* The number that libunwind gets for both descriptors of its pipe. No descriptor can have it. -1
 * would not do, since libunwind takes it for "no pipe yet". */
enum { SC_UNWINDER_PIPE = -0x5343 };

/* Records which object is libunwind: the one that contains this function. To be called before
 * libunwind first opens a pipe. Takes the loader's lock. */
void sc_unwinder_pipe_note(const void *function);

/* Does the return address belong to libunwind? */
bool sc_unwinder_pipe_is_for(const void *site);

/* Emulate pipe2, read (as of an empty pipe) and write for libunwind, and set errno as these do;
 * errno is 0 after a byte was written. */
int sc_unwinder_pipe_open(int ends[2]);
int sc_unwinder_pipe_read(void);
int sc_unwinder_pipe_write(const void *byte);

#endif
