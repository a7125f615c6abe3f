/* The lines of the report as JSON text, each ending in a newline. What does not fit is left out
 * from the least telling end (modules, arguments, outer frames): a line is always valid JSON.
 */
#ifndef SC_REPORT_JSON_LINES_H
#define SC_REPORT_JSON_LINES_H

#include "report/path.h"
#include "report/report.h"
#include "track/stacks.h"
#include "track/text.h"

/* Named frames of one stack, innermost first. */
struct sc_json_lines_stack {
    unsigned count;
    struct sc_report_frame frames[SC_STACK_DEPTH_MAX];
};

/* Of a hazard: the operation, the call that came too early, and a free before it. */
struct sc_json_lines_stacks {
    struct sc_json_lines_stack copy, event, freed;
};

/* Looks the frames of stack `id` up; takes the loader's lock. */
void sc_json_lines_name_stack(uint32_t id, struct sc_json_lines_stack *stack);

/* The buffers of these must hold 4 KB at least; hazards and runs want 64 KB and more. Names says
 * where relative module names start from. sc_json_lines_run takes the loader's lock. */
void sc_json_lines_run(struct sc_text *line, const struct sc_options *options,
                       const struct sc_report_run *run, const struct sc_path_names *names);
/* As much of a run line as says of which process it is, exec or not. */
void sc_json_lines_process(struct sc_text *line, int32_t pid, uint64_t started, const char *host);
void sc_json_lines_hazard(struct sc_text *line, const struct sc_hazard *hazard, uint64_t count,
                          const struct sc_json_lines_stacks *stacks,
                          const struct sc_path_names *names);

void sc_json_lines_timing(struct sc_text *line, const struct sc_hazard *hazard,
                          const struct sc_report_timing *timing);

void sc_json_lines_miss(struct sc_text *line, const struct sc_report_miss *miss, uint64_t count,
                        const struct sc_json_lines_stack *stack, const struct sc_path_names *names);
void sc_json_lines_cupti(struct sc_text *line, const struct sc_report_cupti *cupti);

/* `by_code` counts hazards per enum sc_hazard_code. */
void sc_json_lines_summary(struct sc_text *line, const struct sc_options *options,
                           const struct sc_report_totals *totals,
                           const struct sc_report_counts *counts, const uint64_t *by_code);

#endif
