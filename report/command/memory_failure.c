#include "report/command/memory_failure.h"

#include "report/command/fields.h"
#include "report/command/model.h"
#include "report/command/shown_memory.h"

#include <inttypes.h>
#include <string.h>

/* Returns what the library has found to be the cause of a failed allocation. */
static const char *verdict_words(const char *verdict)
{
    static const char *const words[][2] = {
        {"full", "what the process has itself leaves too little"},
        {"pool_keeps_unused", "a pool's memory is freed behind work that is not done"},
        {"graphs_keep_unused", "graphs kept memory until the call had failed"},
        {"others", "other processes, or the driver, have it"},
        {"too_large", "there never was so much"},
        {"limit", "there is enough: a limit is in the way, or no piece is large enough"},
        {"library_keeps", "a limit, and libsafecopy has some for copies that are not done"},
        {"registrations", "the kernel allows the process no more mappings (vm.max_map_count)"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], verdict) == 0)
            return words[i][1];
    return "it is not known why";
}

/* Returns which call would give unused memory back, as ", 928 MB, which cuMemPoolTrimTo gives
 * back", or "" if none would. */
static const char *remedy_of(struct sc_scratch *scratch, const json_t *oom)
{
    const char *call = sc_field_string(oom, "given_back_by", NULL);
    if (!call)
        return "";
    return sc_scratch_print(
        scratch, ", %s, which %s gives back",
        sc_shown_memory_size(scratch, sc_shown_memory_bytes(oom, "unused_bytes")), call);
}

/* Returns why an allocation of the run has failed, and its stack in *stack, or NULL if none has. */
const char *sc_memory_failure_words(struct sc_model *model, const struct sc_run *run,
                                    struct sc_frames *stack)
{
    struct sc_scratch *scratch = &model->scratch;
    const json_t *oom = json_object_get(run->record, "oom");
    uint64_t count = sc_shown_memory_bytes(oom, "count");
    if (!oom)
        return NULL;
    sc_frames_shown(stack, scratch, &model->makers, json_object_get(oom, "stack"));
    return sc_scratch_print(
        scratch,
        "failed for want of memory, %" PRIu64 " time%s: %s of %s: %s%s; the process had %s, and %s "
        "of %s was free",
        count, count == 1 ? "" : "s", sc_field_string(oom, "api", "?"),
        sc_shown_memory_size(scratch, sc_shown_memory_bytes(oom, "size")),
        verdict_words(sc_field_string(oom, "verdict", "")), remedy_of(scratch, oom),
        sc_shown_memory_size(scratch, sc_shown_memory_bytes(oom, "own_bytes")),
        sc_shown_memory_size(scratch, sc_shown_memory_bytes(oom, "free_bytes")),
        sc_shown_memory_size(scratch, sc_shown_memory_bytes(oom, "total_bytes")));
}
