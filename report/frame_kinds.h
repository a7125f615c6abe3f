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

/* Returns the kind of a module, by its path. */
enum sc_frame_kind sc_frame_kind_of_module(const char *path);

/* Returns the kind of a function, by its linker symbol, whatever module it is linked into. */
enum sc_frame_kind sc_frame_kind_of_function(const char *symbol);

/* Returns the kind of a module, or of a file of Python code, by its file name or else by its whole
 * path. */
enum sc_frame_kind sc_frame_kind_of_path(const char *path, size_t bytes);

/* Returns the kind of the stack's innermost frame that is not the runtime's, which made the call; a
 * Python frame counts as the user's. `stack`: an id of track/stacks.h. SC_FRAME_RUNTIME: only
 * frames of the runtime are known. Locks: takes the loader's. */
enum sc_frame_kind sc_frame_kind_of_stack(uint32_t stack);

#endif
