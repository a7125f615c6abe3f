#include "report/postmortem_line.h"

#include "common/hazard_words.h"
#include "common/text.h"
#include "ledger/limit_events.h"
#include "report/json.h"
#include "report/json_lines.h"

#include "common/poison.h"

enum { STACKS_MAX = 512 };

/* FOR_STACKS: room that operations must leave for the stacks. FOR_THE_END: room that stacks must
 * leave. */
enum { FOR_STACKS = 128 << 10, FOR_THE_END = 1024 };

/* A `postmortem` line that is being written. */
struct writing {
    struct sc_text *line;
    uint64_t now_ns; /* the time of the call, from which ages count */
    unsigned stack_count;
};

/* The stacks that the line refers to so far, by their index here. One caller at a time. */
static uint32_t stacks[STACKS_MAX];

/* Writes a reference to the stack: its index in the list `stacks`, to which it is added if it is
 * new. Many operations have the same stack, and it stands in the line once. Null: there is no
 * stack, or the list is full. */
static void put_stack(struct writing *writing, uint32_t stack)
{
    unsigned i = 0;
    while (i < writing->stack_count && stacks[i] != stack)
        i++;
    bool is_known = stack != 0 && i < STACKS_MAX;
    if (is_known && i == writing->stack_count)
        stacks[writing->stack_count++] = stack;
    sc_json_put(writing->line, "stack~:%d", is_known ? (int)i : -1);
}

/* Writes on which thread, when (and how long before the error) and from where the operation was
 * issued. */
static void put_moment(struct writing *writing, const struct sc_postmortem_operation *operation)
{
    uint64_t then_ns = operation->time_ns;
    sc_json_put(writing->line, "thread:%d time_ns:%lu age_ns:%lu", operation->is.thread, then_ns,
                writing->now_ns > then_ns ? writing->now_ns - then_ns : 0);
    put_stack(writing, operation->is.stack);
}

/* Writes one of the last operations of a stream before the error, and whether it was in flight
 * then (issued, and not known to be done). */
static void put_operation(struct writing *writing, const struct sc_postmortem_operation *operation)
{
    sc_json_put(writing->line,
                "{api:%s direction:%s address?:%#lx source?:%#lx size?:%lu in_flight?:%hhd",
                operation->is.api, sc_hazard_direction_string(operation->is.direction),
                operation->is.address, operation->is.source, operation->is.size_bytes,
                operation->in_flight);
    put_moment(writing, operation);
    sc_json_put(writing->line, "}");
}

/* Writes one of the last frees before the error: a kernel may have used the memory afterwards. */
static void put_free(struct writing *writing, const struct sc_postmortem_operation *freed)
{
    sc_json_put(writing->line, "{api:%s address:%#lx size?:%lu", freed->is.api, freed->is.address,
                freed->is.size_bytes);
    put_moment(writing, freed);
    sc_json_put(writing->line, "}");
}

/* Returns whether the last list element stays: what began at `before` must leave `reserve` bytes
 * of the line. Else the element is taken back, and so are the stacks that it has added to the
 * first `stack_count`. */
static bool keep_last(struct writing *writing, size_t before, unsigned stack_count, size_t reserve)
{
    bool is_kept = sc_json_lines_keep(writing->line, before, reserve);
    if (!is_kept)
        writing->stack_count = stack_count;
    return is_kept;
}

/* Writes a list of operations or frees with `put`, latest first, as far as there is room for the
 * elements and for their stacks behind them. */
static void put_list(struct writing *writing, const char *key,
                     const struct sc_postmortem_operation *list, unsigned count,
                     void (*put)(struct writing *, const struct sc_postmortem_operation *))
{
    sc_json_put(writing->line, "%s:[", key);
    for (unsigned i = 0; i < count; i++) {
        size_t before = writing->line->used;
        unsigned known = writing->stack_count;
        put(writing, &list[i]);
        if (!keep_last(writing, before, known, FOR_STACKS))
            break;
    }
    sc_json_put(writing->line, "]");
}

/* Writes a stream with its last operations. */
static void put_stream(struct writing *writing, const struct sc_postmortem_stream *stream)
{
    sc_json_put(writing->line, "{stream:%#lx device:%d", stream->handle, stream->device);
    put_list(writing, "operations", stream->operations, stream->count, put_operation);
    sc_json_put(writing->line, "}");
}

/* Writes the call that first returned the error. */
static void put_call(struct writing *writing, const struct sc_hazard_event *call)
{
    sc_json_put(writing->line, "call:{api:%s runtime_api?:%s thread:%d time_ns:%lu", call->api,
                call->runtime_api, call->thread, call->time_ns);
    put_stack(writing, call->stack);
    sc_json_put(writing->line, "}");
}

/* Writes which kernel uses the device's heap, after an illegal address: one that does not check
 * what malloc returned writes to NULL when the heap is used up. Nothing if no kernel does. */
static void put_heap(struct writing *writing, const struct sc_limit_event *user)
{
    if (!user)
        return;
    sc_json_put(writing->line,
                "heap:{limit:%lu kernel~:%s api:%s thread:%d time_ns:%lu is_module?:%hhd",
                user->in_force, user->kernel, user->api, user->thread, user->time_ns,
                (bool)(user->by == SC_LIMIT_BY_MODULE));
    put_stack(writing, user->stack);
    sc_json_put(writing->line, "}");
}

/* Writes the frames of the stacks that the line refers to, as many as there is room for; the last
 * ones are left out first. */
static void put_stacks(struct writing *writing)
{
    sc_json_put(writing->line, "stacks:[");
    for (unsigned i = 0; i < writing->stack_count; i++) {
        struct sc_json_lines_stack stack;
        size_t before = writing->line->used;
        sc_json_lines_name_stack(stacks[i], &stack);
        sc_json_put(writing->line, "{");
        sc_json_lines_put_stack(writing->line, &stack, FOR_THE_END);
        sc_json_put(writing->line, "}");
        if (!keep_last(writing, before, writing->stack_count, FOR_THE_END / 2))
            break;
    }
    sc_json_put(writing->line, "]");
}

/* Returns how many of the stream's last operations were in flight: issued, and not known to be
 * done. */
static unsigned count_in_flight(const struct sc_postmortem_stream *stream)
{
    unsigned count = 0;
    for (unsigned i = 0; i < stream->count; i++)
        count += stream->operations[i].in_flight;
    return count;
}

/* Writes the line about a lost context, after which no call of CUDA works. Of the stacks the
 * call's comes first and those of the frees next, since they say most: the last ones are left out
 * if room is short. */
void sc_postmortem_line_write(struct sc_text *line, const struct sc_postmortem *postmortem,
                              uint64_t hazards, const uint64_t *by_code)
{
    struct writing writing = {line, postmortem->call.time_ns, 0};
    unsigned in_flight = 0;
    for (unsigned i = 0; i < postmortem->stream_count; i++)
        in_flight += count_in_flight(&postmortem->streams[i]);
    sc_json_put(line, "{type:'postmortem' error:{code:%d name:%s}", postmortem->error,
                postmortem->name);
    put_call(&writing, &postmortem->call);
    put_heap(&writing, postmortem->heap_user);
    sc_json_put(line, "hazards:%lu", hazards);
    sc_json_lines_put_by_code(line, by_code);
    put_list(&writing, "frees", postmortem->frees, postmortem->free_count, put_free);
    sc_json_put(line, "in_flight:%u streams:[", in_flight);
    for (unsigned i = 0; i < postmortem->stream_count; i++) {
        size_t before = line->used;
        unsigned known = writing.stack_count;
        put_stream(&writing, &postmortem->streams[i]);
        if (!keep_last(&writing, before, known, FOR_STACKS / 2))
            break;
    }
    sc_json_put(line, "]");
    put_stacks(&writing);
    sc_json_put(line, "}\n");
}

/* Adds the stream's operations in flight to the counts for the summary, and keeps the one that was
 * issued last. */
static void note_stream(struct sc_postmortem_brief *brief,
                        const struct sc_postmortem_stream *stream)
{
    unsigned in_flight = count_in_flight(stream);
    brief->in_flight += in_flight;
    brief->streams += in_flight > 0;
    for (unsigned i = 0; i < stream->count; i++) {
        const struct sc_postmortem_operation *operation = &stream->operations[i];
        if (operation->in_flight && operation->time_ns > brief->operation.time_ns)
            brief->operation = *operation;
    }
}

/* Reduces the post-mortem (what was in flight when the context was lost) to what people are told
 * on stderr: counts, the latest operation in flight, and the latest free. */
struct sc_postmortem_brief sc_postmortem_line_in_brief(const struct sc_postmortem *postmortem)
{
    struct sc_postmortem_brief brief = {
        .error = postmortem->error,
        .name = postmortem->name,
        .call = postmortem->call,
        .frees = postmortem->free_count,
        .heap_user = postmortem->heap_user,
    };
    for (unsigned i = 0; i < postmortem->stream_count; i++)
        note_stream(&brief, &postmortem->streams[i]);
    if (brief.frees > 0)
        brief.freed = postmortem->frees[0];
    return brief;
}
