/* Whose a frame is: of what every program runs on (CUDA, libc), a library's, or the user's. In the
 * process the rows of frame_kinds.def tell; the command has further rules
 * (report/command/frame_rules.h).
 *
 * Thread-safe. Nothing allocates.
 */
#ifndef SC_REPORT_FRAME_KINDS_H
#define SC_REPORT_FRAME_KINDS_H

#include <stddef.h>
#include <stdint.h>

enum sc_frame_kind { SC_FRAME_RUNTIME, SC_FRAME_LIBRARY, SC_FRAME_USER };

/* The kind of a module, by its path. */
enum sc_frame_kind sc_frame_kind_of_module(const char *path);

/* The kind of a function, by its name as the linker has it, wherever it is linked in. */
enum sc_frame_kind sc_frame_kind_of_function(const char *symbol);

/* The kind of a module or a file of Python code, by its name and else by where it lies. */
enum sc_frame_kind sc_frame_kind_of_path(const char *path, size_t bytes);

/* The kind of the innermost frame of a stack (track/stacks.h) that is not the run-time's: whoever
 * issued the call. A Python frame is the user's. SC_FRAME_RUNTIME: no frame tells. Locks: the
 * loader's. */
enum sc_frame_kind sc_frame_kind_of_stack(uint32_t stack);

#endif
