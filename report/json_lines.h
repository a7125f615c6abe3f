/* Writes the lines of the report as JSON, each with its newline.
 *
 * A line is always valid JSON. If the buffer is too small, the least important parts are left out:
 * modules, arguments, outer frames. A buffer has at least 4 KB; for hazards and runs it should have
 * 64 KB or more. The path of a module that was loaded by a relative one is found by asking the
 * Linux kernel. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   held: of memory: freed by the program, and kept by the library until the device is done
 *   ledger: which memory the process has, and which call stack asked for it
 *   miss: a driver call that came through no wrapper
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   site: the address to which a hook or wrapper returns: the program's call
 */

#ifndef SC_REPORT_JSON_LINES_H
#define SC_REPORT_JSON_LINES_H

#include "report/report.h"
#include "track/stacks.h"

struct sc_path_names;

/* The frames of one stack with their modules and symbols, innermost first. */
struct sc_json_lines_stack {
    unsigned count;
    struct sc_report_frame frames[SC_STACK_DEPTH_MAX];
};

/* The named stacks of a hazard: those of its operation (`copy`), of the call that came too early
 * (`event`), and of the call that made the buffer. A hazard that is no race has two more: of the
 * free before the event (SC401), and of the call that made the operation's stream. A race has those
 * of the calls that added its two nodes. */
struct sc_json_lines_stacks {
    struct sc_json_lines_stack copy, event, buffer;
    union {
        struct {
            struct sc_json_lines_stack freed, stream;
        };
        struct sc_json_lines_stack nodes[2]; /* sc_hazard_is_race */
    };
};

struct sc_guard_part_sites;
struct sc_limits_part;
struct sc_memory_part;
struct sc_text;

/* Looks up the module and symbol of each frame of stack `id` (track/stacks.h; 0: no stack). Locks:
 * takes the loader's lock, so none of the library's may be held. */
void sc_json_lines_name_stack(uint32_t id, struct sc_json_lines_stack *stack);

/* Checks, after an element was appended to a list of the line, that `reserve` bytes are left for
 * the line's end. If fewer are, takes the element back (it began at `before`) and returns false:
 * so a line is valid JSON however small its buffer is. */
bool sc_json_lines_keep(struct sc_text *line, size_t before, size_t reserve);

/* Returns how many bytes the next element of an array must leave free: `reserve` for the end of the
 * line, and as much as for this element for each of the `more` that follow. */
size_t sc_json_lines_share(const struct sc_text *line, unsigned more, size_t reserve);

/* Writes the member `by_code`: how many hazards there were of each code. `by_code`: a count for
 * each enum sc_hazard_code. */
void sc_json_lines_put_by_code(struct sc_text *line, const uint64_t *by_code);

/* Writes the member `stack`. Outer frames that would leave less than `reserve` bytes are left out.
 */
void sc_json_lines_put_stack(struct sc_text *line, const struct sc_json_lines_stack *stack,
                             size_t reserve);

/* Writes the `run` line, a report's first, which says what process with which options and modules
 * this is. Locks: takes the loader's lock. */
void sc_json_lines_run(struct sc_text *line, const struct sc_options *options,
                       const struct sc_report_run *run, const struct sc_path_names *names);
/* Writes a `modules` line with loaded modules that no line has yet, as many as there is room for;
 * frames in the report refer to them. Returns false if there are none: the line is not to be
 * written then. Locks: takes the loader's lock. Pre: one caller at a time, sc_json_lines_run
 * included. */
bool sc_json_lines_modules(struct sc_text *line, const struct sc_path_names *names);
/* Writes the members `pid`, `started` and `host`, which together identify the process; they stay
 * the same after exec. */
void sc_json_lines_process(struct sc_text *line, int32_t pid, uint64_t started, const char *host);

/* Writes a `hazard` line. `count`: how many equal hazards there have been. `stacks`: those of the
 * hazard, named before the report's lock was taken. `names`: which process this is. */
void sc_json_lines_hazard(struct sc_text *line, const struct sc_hazard *hazard, uint64_t count,
                          const struct sc_json_lines_stacks *stacks,
                          const struct sc_path_names *names);

/* Write a `timing` line (when the copy of a hazard ran), a `coverage` line for a driver call that
 * came through no wrapper, and a `cupti` line. */
void sc_json_lines_timing(struct sc_text *line, const struct sc_hazard *hazard,
                          const struct sc_report_timing *timing);

void sc_json_lines_miss(struct sc_text *line, const struct sc_report_miss *miss, uint64_t count,
                        const struct sc_json_lines_stack *stack);
void sc_json_lines_cupti(struct sc_text *line, const struct sc_report_cupti *cupti);

/* Writes a `memory` line: how much memory the process has, and the ten call stacks that have
 * most. */
void sc_json_lines_memory(struct sc_text *line, const struct sc_memory_part *memory);

/* Writes one JSON object whose only member is the `memory` of a memory line, for
 * safecopy_memory(). {} if `memory` is NULL. */
void sc_json_lines_held(struct sc_text *text, const struct sc_memory_part *memory);

/* Writes the `summary` line. `by_code`: a count of hazards for each enum sc_hazard_code.
 * `by_reason`: a count for each reason for which the program had hazards ignored (annotations.h).
 * `sites` NULL: there is no guard_budget. `memory` NULL: the ledger, which accounts for memory, is
 * off. `limits` NULL: no context's limits were set or met. */
void sc_json_lines_summary(struct sc_text *line, const struct sc_options *options,
                           const struct sc_report_totals *totals,
                           const struct sc_report_counts *counts, const uint64_t *by_code,
                           const uint64_t *by_reason, const struct sc_guard_part_sites *sites,
                           const struct sc_memory_part *memory,
                           const struct sc_limits_part *limits);

#endif
