/* libunwind asks whether memory can be read by writing a byte of it into a pipe, which it keeps.
 * A program may close descriptors that it does not know (closefrom), and have files of its own at
 * their numbers: libunwind would read from them, write into them and close them. So libunwind has
 * no pipe, and its writes are answered here. A program's files have the numbers that they have
 * without us, too.
 *
 * Thread-safe; async-signal-safe, but for sc_unwinder_pipe_note.
 */
#ifndef SC_INTERPOSE_BASE_UNWINDER_PIPE_H
#define SC_INTERPOSE_BASE_UNWINDER_PIPE_H

#include <stdbool.h>

/* What stands for either end: the number of no descriptor, and not -1, which stands for none. */
enum { SC_UNWINDER_PIPE = -0x5343 };

/* Whose calls are meant: the object's with this function. Called before it first opens a pipe.
 * Takes the loader's lock. */
void sc_unwinder_pipe_note(const void *function);

/* Does libunwind call from there? */
bool sc_unwinder_pipe_is_for(const void *site);

/* What pipe2, read (of an empty pipe) and write return. errno is set as they set it, and 0 when a
 * byte was written. */
int sc_unwinder_pipe_open(int ends[2]);
int sc_unwinder_pipe_read(void);
int sc_unwinder_pipe_write(const void *byte);

#endif
