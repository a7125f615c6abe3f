/* Decides whose a frame is: the user's, a library's, or of what every program runs on (CUDA, libc,
 * Python). The rules are lines of text; report/command/frames.rules has the syntax and those that
 * are built in, but for the names of modules by which the process itself goes
 * (report/frame_kinds.def). */
#ifndef SC_REPORT_COMMAND_FRAME_RULES_H
#define SC_REPORT_COMMAND_FRAME_RULES_H

#include "report/frame_kinds.h"

struct sc_frame_rules;

/* Those that are built in. NULL when out of memory. */
struct sc_frame_rules *sc_frame_rules_new(void);
void sc_frame_rules_free(struct sc_frame_rules *rules);

/* Puts the rules of the file at `path` before all others. Returns 0, or -errno after it has said
 * what is wrong: a bad rule (-EINVAL) is named with line and column. */
int sc_frame_rules_read(struct sc_frame_rules *rules, const char *path);

/* The same with the user's own file. It is no error if there is none. */
int sc_frame_rules_read_own(struct sc_frame_rules *rules);

/* The kind of the frame with this module, file and function, each of which may be NULL. A rule for
 * the function goes first. Without one, a frame with neither module nor file is unknown, and counts
 * as the run-time's. Answers for paths are remembered. */
enum sc_frame_kind sc_frame_rules_of_frame(struct sc_frame_rules *rules, const char *module,
                                           const char *file, const char *function);

#endif
