/* Tells whose code a frame of a stack runs: that of the CUDA libraries or libc, another library's,
 * or the user's. The report shows users the frames of their own code. The library uses the rows of
 * frame_kinds.def; the command has further rules (report/command/frame_rules.h).
 *
 * Thread-safe. Nothing allocates. */
#ifndef SC_REPORT_FRAME_KINDS_H
#define SC_REPORT_FRAME_KINDS_H

#include <stddef.h>
#include <stdint.h>

enum sc_frame_kind { SC_FRAME_RUNTIME, SC_FRAME_LIBRARY, SC_FRAME_USER };

/* Returns whose code a module (a loaded file) is: the runtime's, a library's or the user's, by the
 * name of its file. */
enum sc_frame_kind sc_frame_kind_of_module(const char *path);

/* Returns whose code a function is, by its linker symbol, whatever module it is linked into: a
 * CUDA runtime may be linked into the program. */
enum sc_frame_kind sc_frame_kind_of_function(const char *symbol);

/* Returns whose code a module, or a file of Python code, is: by its file name or else by its whole
 * path. `path` has `bytes` bytes, and no NUL. */
enum sc_frame_kind sc_frame_kind_of_path(const char *path, size_t bytes);

/* Returns whose code made the call with this stack (an id of track/stacks.h): the kind of the
 * innermost frame that is not the runtime's or libc's; a Python frame counts as the user's.
 * SC_FRAME_RUNTIME: only frames of the runtime are known. Locks: takes the loader's. */
enum sc_frame_kind sc_frame_kind_of_stack(uint32_t stack);

#endif
