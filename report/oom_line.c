#include "report/oom_line.h"

#include "common/text.h"
#include "ledger/ledger_words.h"
#include "report/json.h"
#include "report/json_lines.h"
#include "report/memory_part.h"

#include <stddef.h>

#include "common/poison.h"

enum { ACCOUNTS_MAX = 10, RESERVE = 1024 };

/* Of each verdict: its name in the report, words for people, and the call that gives memory back.
 */
static const struct words {
    const char *name, *words, *remedy;
} verdicts[SC_OOM_VERDICTS] = {
    [SC_OOM_UNKNOWN] = {"unknown", "it is not known why", NULL},
    [SC_OOM_TOO_LARGE] = {"too_large", "there is less than that in all", NULL},
    [SC_OOM_FULL] = {"full", "the process has the rest itself", NULL},
    [SC_OOM_POOL] = {"pool_keeps_unused", "a pool's memory is freed behind work that is not done",
                     "cuCtxSynchronize"},
    [SC_OOM_GRAPHS] = {"graphs_keep_unused", "graphs kept memory until the call had failed",
                       "cuDeviceGraphMemTrim"},
    [SC_OOM_OTHERS] = {"others", "other processes, or the driver, have the rest", NULL},
    [SC_OOM_LIMIT] = {"limit", "there is room: a limit, or no piece of it is large enough", NULL},
    [SC_OOM_LIBRARY] = {"library_keeps",
                        "a limit, and libsafecopy has some for copies that are not done",
                        "cuCtxSynchronize"},
    [SC_OOM_REGISTRATIONS] = {"registrations",
                              "the process may have no more mappings (vm.max_map_count)", NULL},
};

/* Writes why the allocation failed, which call would give memory back, and what was free at the
 * time (left out if it is not known). */
static void put_verdict(struct sc_text *line, const struct sc_oom *oom)
{
    const struct words *verdict = &verdicts[oom->verdict];
    sc_json_put(line, "verdict:%s", verdict->name);
    if (oom->verdict == SC_OOM_POOL)
        sc_json_put(line, "pool:%#lx", oom->pool);
    sc_json_put(line, "given_back_by?:%s unused_bytes:%lu own_bytes:%lu", verdict->remedy,
                oom->unused_bytes, oom->own_bytes);
    if (oom->total_bytes == 0)
        return;
    sc_json_put(line, "free_bytes:%lu total_bytes:%lu", oom->free_bytes, oom->total_bytes);
}

/* Writes the `oom` line: the allocation that failed for want of memory, its likeliest cause, and
 * who held what at that time (`part`; NULL without the ledger). */
void sc_oom_line_write(struct sc_text *line, const struct sc_oom *oom,
                       const struct sc_json_lines_stack *stack, const struct sc_memory_part *part)
{
    sc_json_put(line, "{type:'oom' api:%s device~:%d size:%lu count:%lu thread:%d time_ns:%lu",
                oom->api, oom->place == SC_LEDGER_HOST ? -1 : (int)oom->place, oom->size_bytes,
                oom->count, oom->thread, oom->time_ns);
    put_verdict(line, oom);
    sc_json_lines_put_stack(line, stack, line->size / 2);
    if (part)
        sc_memory_part_put(line, part, ACCOUNTS_MAX, RESERVE);
    sc_json_put(line, "}\n");
}

/* Says for people in one line which allocation has failed, why, as far as is known, and who holds
 * most there. */
void sc_oom_line_say(struct sc_text *text, const struct sc_oom *oom,
                     const struct sc_memory_part *part)
{
    sc_text_put(text, oom->api);
    if (oom->size_bytes)
        sc_text_format(text, " of %'lu", oom->size_bytes);
    sc_text_put(text, " failed for want of memory");
    if (oom->total_bytes)
        sc_text_format(text, " (%'lu of %'lu is free)", oom->free_bytes, oom->total_bytes);
    sc_text_format(text, ": %s", verdicts[oom->verdict].words);
    if (verdicts[oom->verdict].remedy)
        sc_text_format(text, ", %'lu, which %s gives back", oom->unused_bytes,
                       verdicts[oom->verdict].remedy);
    if (part)
        sc_memory_part_say_owners(text, part, oom->place);
}
