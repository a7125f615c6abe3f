/* Words for an allocation of a run that failed for want of memory (its `oom` line). */
#ifndef SC_REPORT_COMMAND_MEMORY_FAILURE_H
#define SC_REPORT_COMMAND_MEMORY_FAILURE_H

struct sc_frames;
struct sc_model;
struct sc_run;

/* Returns words for which allocation failed last, how many failed, and why; stores the stack of
 * that call. NULL: none failed. */
const char *sc_memory_failure_words(struct sc_model *model, const struct sc_run *run,
                                    struct sc_frames *stack);

#endif
