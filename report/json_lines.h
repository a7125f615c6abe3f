/* The lines of the report as JSON text, each with its newline.
 *
 * A line is always valid JSON. If the buffer is too small, the line lacks what tells least:
 * modules, arguments, outer frames. A buffer has at least 4 KB; hazards and runs want 64 KB and
 * more. The path of a module that was loaded by a relative one is asked of the kernel.
 */
#ifndef SC_REPORT_JSON_LINES_H
#define SC_REPORT_JSON_LINES_H

#include "report/report.h"
#include "track/stacks.h"

struct sc_path_names;

/* Named frames of one stack, innermost first. */
struct sc_json_lines_stack {
    unsigned count;
    struct sc_report_frame frames[SC_STACK_DEPTH_MAX];
};

/* The stacks of a hazard: of the operation, of the call that came too early, and of the free before
 * that call (SC401); of what made the buffer and the operation's stream; or of who added the two
 * nodes. */
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

/* Looks up the frames of stack `id` (track/stacks.h). Locks: takes the loader's lock. */
void sc_json_lines_name_stack(uint32_t id, struct sc_json_lines_stack *stack);

/* Takes back the element that began at `before` if it leaves no room for the end of the line. */
bool sc_json_lines_keep(struct sc_text *line, size_t before, size_t reserve);

/* What is to be left behind an element, so that each of `more` has as much room. */
size_t sc_json_lines_share(const struct sc_text *line, unsigned more, size_t reserve);

/* The counts of hazards, by enum sc_hazard_code. */
void sc_json_lines_put_by_code(struct sc_text *line, const uint64_t *by_code);

/* The member "stack". What leaves less than `reserve` bytes is left out: outer frames. */
void sc_json_lines_put_stack(struct sc_text *line, const struct sc_json_lines_stack *stack,
                             size_t reserve);

/* Locks: takes the loader's lock. */
void sc_json_lines_run(struct sc_text *line, const struct sc_options *options,
                       const struct sc_report_run *run, const struct sc_path_names *names);
/* What was loaded that no line has yet, or as much of it as there is room for. False if there is
 * none. Locks: takes the loader's lock. Pre: one caller at a time, sc_json_lines_run included. */
bool sc_json_lines_modules(struct sc_text *line, const struct sc_path_names *names);
/* The part of a run line that names the process, which exec does not change. */
void sc_json_lines_process(struct sc_text *line, int32_t pid, uint64_t started, const char *host);
void sc_json_lines_hazard(struct sc_text *line, const struct sc_hazard *hazard, uint64_t count,
                          const struct sc_json_lines_stacks *stacks,
                          const struct sc_path_names *names);

void sc_json_lines_timing(struct sc_text *line, const struct sc_hazard *hazard,
                          const struct sc_report_timing *timing);

void sc_json_lines_miss(struct sc_text *line, const struct sc_report_miss *miss, uint64_t count,
                        const struct sc_json_lines_stack *stack);
void sc_json_lines_cupti(struct sc_text *line, const struct sc_report_cupti *cupti);

/* What is held, as a line, and as an object of one member for who asks. `memory` NULL: not known.
 */
void sc_json_lines_memory(struct sc_text *line, const struct sc_memory_part *memory);
void sc_json_lines_held(struct sc_text *text, const struct sc_memory_part *memory);

/* `by_code` has a count of hazards for each enum sc_hazard_code, and `by_reason` one for each
 * reason for which hazards were ignored (annotations.h). `sites` NULL: there is no guard_budget.
 * `memory` NULL: the ledger is off. */
void sc_json_lines_summary(struct sc_text *line, const struct sc_options *options,
                           const struct sc_report_totals *totals,
                           const struct sc_report_counts *counts, const uint64_t *by_code,
                           const uint64_t *by_reason, const struct sc_guard_part_sites *sites,
                           const struct sc_memory_part *memory,
                           const struct sc_limits_part *limits);

#endif
