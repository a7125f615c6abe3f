#include "interpose/base/python_merge.h"

#include <stdbool.h>

#include "track/stacks.h"

#include "common/poison.h"

enum { NATIVES_BEFORE_MAX = 48 };

struct output {
    const struct sc_python_merge *from;
    void **frames;
    unsigned count;
    unsigned placed; /* words that have been written, or passed over as NULL */
};

/* Does the return address follow a call within the range? The call may be the range's last
 * instruction, so the end counts as within and the start does not. */
static bool is_return_into(const struct sc_python_range *range, const void *return_address)
{
    return (uintptr_t)return_address > range->start && (uintptr_t)return_address <= range->end;
}

/* Returns the index, from `i` on, of the first native frame whose code is in the range; the number
 * of native frames if there is none. */
static unsigned first_within(const struct sc_python_range *range,
                             const struct sc_python_merge *merge, unsigned i)
{
    while (i < merge->native_count && !is_return_into(range, merge->natives[i]))
        i++;
    return i < merge->native_count ? i : merge->native_count;
}

/* Adds a frame to the merged stack; the frames that come when it is full are the outermost, and are
 * dropped. */
static void put_frame(struct output *output, void *frame)
{
    if (output->count < SC_STACK_DEPTH_MAX)
        output->frames[output->count++] = frame;
}

/* Writes the Python frames that one native frame of the interpreter's loop runs: the words up to
 * the next NULL. With `all`, all that are left. Returns whether there were any. */
static bool put_python_frames(struct output *output, bool all)
{
    unsigned before = output->placed;
    unsigned ends = 0;
    while (output->placed < output->from->word_count && (all || ends == 0)) {
        void *word = output->from->words[output->placed++];
        if (word)
            put_frame(output, word);
        ends += !word;
    }
    return output->placed - before > ends;
}

/* Merges the native and the Python frames: each native frame of the interpreter's loop is replaced
 * by the Python frames that it ran. If no frame is the loop's, all Python frames come before the
 * first frame of the interpreter's object (all_at). The innermost native frame (i == 0) always
 * stays; a deep native stack is cut, so that it leaves room for Python frames. */
unsigned sc_python_merge_stacks(const struct sc_python_merge *merge, void **frames)
{
    struct output output = {.from = merge, .frames = frames};
    bool sees_loop = first_within(&merge->loop, merge, 0) < merge->native_count;
    unsigned all_at = sees_loop ? merge->native_count : first_within(&merge->object, merge, 1);
    for (unsigned i = 0; i < merge->native_count; i++) {
        bool is_loop = is_return_into(&merge->loop, merge->natives[i]);
        if (i == 0)
            put_frame(&output, merge->natives[i]);
        if (i == all_at)
            put_python_frames(&output, /*all*/ true);
        if (!(is_loop && put_python_frames(&output, /*all*/ false)) && i > 0) {
            bool is_cut = output.placed == 0 && output.count >= NATIVES_BEFORE_MAX;
            if (!is_cut)
                put_frame(&output, merge->natives[i]);
        }
    }
    put_python_frames(&output, /*all*/ true);
    return output.count;
}
