/* Writes the `oom` line of the report, which says why an allocation failed for want of memory. */

/* Terms (docs/glossary.md):
 *   ledger: which memory the process has, and which call stack asked for it
 */

#ifndef SC_REPORT_OOM_LINE_H
#define SC_REPORT_OOM_LINE_H

#include <stdint.h>

struct sc_json_lines_stack;
struct sc_memory_part;
struct sc_text;

/* Why the allocation failed, as far as is known. */
enum sc_oom_verdict {
    SC_OOM_UNKNOWN,
    SC_OOM_TOO_LARGE,     /* the place (a device or the host) is smaller than that */
    SC_OOM_FULL,          /* what the process itself holds leaves too little */
    SC_OOM_POOL,          /* a pool keeps memory whose free in stream order is not reached yet */
    SC_OOM_GRAPHS,        /* graphs had reserved memory until the call failed */
    SC_OOM_OTHERS,        /* other processes, or the driver, have the rest */
    SC_OOM_LIMIT,         /* there is room: a limit applies, or no piece is large enough */
    SC_OOM_LIBRARY,       /* the same, and the library has some for copies that are not done */
    SC_OOM_REGISTRATIONS, /* the process may have no more mappings (vm.max_map_count) */
    SC_OOM_VERDICTS
};

/* An allocation that has failed for want of memory, with what was found out about the cause. */
struct sc_oom {
    const char *api;     /* lives for ever */
    uint64_t size_bytes; /* what the call asked for; 0: the call does not say */
    unsigned place;      /* ledger/ledger.h */
    uint64_t count;      /* how many allocations have failed so far */
    int32_t thread;
    uint64_t time_ns;
    uint32_t stack;
    enum sc_oom_verdict verdict;
    uint64_t pool; /* SC_OOM_POOL: the handle of the pool that keeps most */
    uint64_t unused_bytes, own_bytes;
    uint64_t free_bytes, total_bytes; /* of the place; total 0: not known */
};

/* Writes the `oom` line, with its newline. `stack`: that of the call. `part`: which memory the
 * process had at that time, and who had it; NULL: not known. */
void sc_oom_line_write(struct sc_text *line, const struct sc_oom *oom,
                       const struct sc_json_lines_stack *stack, const struct sc_memory_part *part);

/* Appends a line for people: "cuMemAlloc of 200 MB failed for want of memory (1 MB of 80 GB is
 * free): ...". */
void sc_oom_line_say(struct sc_text *text, const struct sc_oom *oom,
                     const struct sc_memory_part *part);

#endif
