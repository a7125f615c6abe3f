/* Decides whose code a frame runs: the user's, a library's, or code that every program needs (CUDA,
 * libc, Python). The rules are lines of text; report/command/frames.rules has their syntax and the
 * built-in rules, except the names of modules that the library itself goes by
 * (report/frame_kinds.def). */
#ifndef SC_REPORT_COMMAND_FRAME_RULES_H
#define SC_REPORT_COMMAND_FRAME_RULES_H

#include "report/frame_kinds.h"

struct sc_frame_rules;

/* Makes the built-in rules. NULL: no memory. */
struct sc_frame_rules *sc_frame_rules_new(void);
void sc_frame_rules_free(struct sc_frame_rules *rules);

/* Adds the rules of the file at `path`, which then count before all others. Returns 0, or -errno
 * after a message on stderr: a bad rule (-EINVAL) is named with line and column. */
int sc_frame_rules_read(struct sc_frame_rules *rules, const char *path);

/* Does the same as sc_frame_rules_read with the user's own file. Returns 0 also if there is none.
 */
int sc_frame_rules_read_own(struct sc_frame_rules *rules);

/* Returns the kind of the frame with this module, file and function, each of which may be NULL. A
 * rule for the function counts first. Without one, a frame with neither module nor file is unknown,
 * and counts as the runtime's. Answers for paths are remembered. */
enum sc_frame_kind sc_frame_rules_of_frame(struct sc_frame_rules *rules, const char *module,
                                           const char *file, const char *function);

#endif
