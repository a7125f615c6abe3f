#include "interpose/base/python_merge.h"

#include <stdbool.h>

#include "track/stacks.h"

#include "common/poison.h"

enum { NATIVES_BEFORE_MAX = 48 };

struct output {
    const struct sc_python_merge *from;
    void **frames;
    unsigned count;
    unsigned placed; /* words that have found their place */
};

static bool holds(const struct sc_python_range *range, const void *return_address)
{
    return (uintptr_t)return_address > range->start && (uintptr_t)return_address <= range->end;
}

/* The first frame of the range from frame `i` on; the count of all if there is none. */
static unsigned first_within(const struct sc_python_range *range,
                             const struct sc_python_merge *merge, unsigned i)
{
    while (i < merge->native_count && !holds(range, merge->natives[i]))
        i++;
    return i < merge->native_count ? i : merge->native_count;
}

static void put(struct output *output, void *frame)
{
    if (output->count < SC_STACK_DEPTH_MAX)
        output->frames[output->count++] = frame;
}

/* The Python frames that one frame of the loop runs, or all. Returns whether there were any. */
static bool place(struct output *output, bool all)
{
    unsigned before = output->placed;
    unsigned ends = 0;
    while (output->placed < output->from->word_count && (all || ends == 0)) {
        void *word = output->from->words[output->placed++];
        if (word)
            put(output, word);
        ends += !word;
    }
    return output->placed - before > ends;
}

unsigned sc_python_merge_stacks(const struct sc_python_merge *merge, void **frames)
{
    struct output output = {.from = merge, .frames = frames};
    bool sees_loop = first_within(&merge->loop, merge, 0) < merge->native_count;
    unsigned all_at = sees_loop ? merge->native_count : first_within(&merge->object, merge, 1);
    for (unsigned i = 0; i < merge->native_count; i++) {
        bool is_loop = holds(&merge->loop, merge->natives[i]);
        if (i == 0)
            put(&output, merge->natives[i]);
        if (i == all_at)
            place(&output, true);
        if (!(is_loop && place(&output, false)) && i > 0) {
            bool is_cut = output.placed == 0 && output.count >= NATIVES_BEFORE_MAX;
            if (!is_cut)
                put(&output, merge->natives[i]);
        }
    }
    place(&output, true);
    return output.count;
}
