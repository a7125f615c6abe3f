/* Tells whose code a frame of a stack runs: the CUDA libraries' or libc's, another library's, or
 * the user's. The report shows users the frames of their own code. The library goes by the rows of
 * frame_kinds.def; the command has further rules (report/command/frame_rules.h).
 *
 * Thread-safe. Nothing allocates. */
#ifndef SC_REPORT_FRAME_KINDS_H
#define SC_REPORT_FRAME_KINDS_H

#include <stddef.h>
#include <stdint.h>

enum sc_frame_kind { SC_FRAME_RUNTIME, SC_FRAME_LIBRARY, SC_FRAME_USER };

/* The kind of a module, by its path. */
enum sc_frame_kind sc_frame_kind_of_module(const char *path);

/* The kind of a function, by its linker symbol, whatever module it is linked into. */
enum sc_frame_kind sc_frame_kind_of_function(const char *symbol);

/* The kind of a module, or of a file of Python code: by its file name, or else by its whole path.
 */
enum sc_frame_kind sc_frame_kind_of_path(const char *path, size_t bytes);

/* The kind of the stack's innermost frame that is not the runtime's, which issued the call (`stack`
 * is an id of track/stacks.h). A Python frame counts as the user's. SC_FRAME_RUNTIME: no frame but
 * the runtime's is known. Locks: takes the loader's. */
enum sc_frame_kind sc_frame_kind_of_stack(uint32_t stack);

#endif
