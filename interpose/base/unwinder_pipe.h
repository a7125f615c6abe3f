/* Answers libunwind's reads and writes of its pipe. libunwind asks whether memory can be read by
 * writing a byte of it into a pipe that it keeps. A program may close descriptors that it does not
 * know (closefrom), and get files of its own under their numbers, which libunwind would then read,
 * write and close. So libunwind gets no pipe, and the program's files keep the numbers that they
 * have without us.
 *
 * Thread-safe; async-signal-safe, but for sc_unwinder_pipe_note. */
#ifndef SC_INTERPOSE_BASE_UNWINDER_PIPE_H
#define SC_INTERPOSE_BASE_UNWINDER_PIPE_H

#include <stdbool.h>

/* What libunwind is given in place of both descriptors of its pipe. No descriptor has this number.
 * -1 would not do, since libunwind means by it that it has no pipe yet. */
enum { SC_UNWINDER_PIPE = -0x5343 };

/* Notes which object is libunwind: the one that has this function. To be called before libunwind
 * first opens a pipe. Takes the loader's lock. */
void sc_unwinder_pipe_note(const void *function);

/* Does the return address belong to libunwind? */
bool sc_unwinder_pipe_is_for(const void *site);

/* Answer libunwind's calls of pipe2, of read (as of an empty pipe) and of write, with errno as
 * these set it. errno is 0 after a byte was written. */
int sc_unwinder_pipe_open(int ends[2]);
int sc_unwinder_pipe_read(void);
int sc_unwinder_pipe_write(const void *byte);

#endif
