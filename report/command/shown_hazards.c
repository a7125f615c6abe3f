#include "report/command/shown_hazards.h"

#include "report/command/called.h"
#include "report/command/fields.h"
#include "report/command/shown.h"

#include <string.h>

#define NUMBER "%" JSON_INTEGER_FORMAT

static const char *plural(json_int_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- the table of words ---- */

struct words {
    const char *code, *name, *advice;
    enum sc_hazard_subject subject;
};

/* Returns what is known of a code: its name and advice. Of an unknown one, where to look. */
static const struct words *words_of_code(const char *code)
{
    static const struct words table[] = {
#define SC_HAZARD(code, name, subject, advice) {#code, name, advice, subject},
#include "common/hazard.def"
    };
    static const struct words unknown = {"", NULL, "see docs/hazards.md", SC_OF_COPY};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].code, code) == 0)
            return &table[i];
    return &unknown;
}

/* Returns what to do about hazards of this code. */
const char *sc_shown_hazards_advice(const char *code)
{
    return words_of_code(code)->advice;
}

/* Returns the words for what the action may lead to. The row for this code, if there is one, takes
 * precedence over the row for all codes. */
static const char *outcome_of(const char *code, const char *action)
{
    static const struct {
        enum sc_action action;
        const char *code, *outcome;
    } rows[] = {
#define SC_OUTCOME(code, action, outcome) {action, #code, outcome},
#include "common/hazard.def"
#define SC_ACTION(action, word, outcome) {action, NULL, outcome},
#include "common/hazard.def"
    };
    static const char *const names[] = {
#define SC_ACTION(action, word, outcome) [action] = word,
#include "common/hazard.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(names[rows[i].action], action) == 0 &&
            (!rows[i].code || strcmp(rows[i].code, code) == 0))
            return rows[i].outcome;
    return "what was done is not known to this version";
}

/* ---- calls ---- */

/* Names the thread: "7417", or "7417 loader" where it has a name of its own. */
static const char *thread_of(struct sc_scratch *scratch, const json_t *side)
{
    const char *name = sc_field_string(side, "thread_name", NULL);
    return sc_scratch_print(scratch, NUMBER "%s%s", sc_field_number(side, "thread"),
                            name ? " " : "", name ? name : "");
}

/* Returns one of the hazard's calls, with its stack. */
static struct sc_call make_call(struct sc_scratch *scratch, const struct sc_frame_makers *makers,
                                const json_t *side)
{
    struct sc_call call = {
        .driver_api = sc_field_string(side, "api", "?"),
        .thread = sc_field_number(side, "thread"),
        .thread_words = thread_of(scratch, side),
        .time_ns = sc_field_number(side, "time_ns"),
    };
    sc_frames_shown(&call.stack, scratch, makers, json_object_get(side, "stack"));
    call.called = sc_called_function(side, &call.stack);
    call.api = sc_called_words(scratch, side, &call.stack);
    if (strcmp(call.api, "return") == 0)
        sc_frames_shown_drop_inlined(&call.stack);
    return call;
}

/* Returns the call and its place in the user's code, in words. */
static const char *title_of_call(struct sc_scratch *scratch, const struct sc_call *call)
{
    if (!call->stack.user)
        return call->api;
    return sc_scratch_print(scratch, "%s at %s", call->api,
                            sc_frames_shown_place(scratch, call->stack.user));
}

/* Makes the call that freed the memory before; empty if there is none. */
static struct sc_call make_freed(struct sc_scratch *scratch, const struct sc_frame_makers *makers,
                                 const json_t *side)
{
    return json_is_object(side) ? make_call(scratch, makers, side) : (struct sc_call){0};
}

/* Is the hazard about memory? Those of captures are not. */
static bool has_buffer(const json_t *record)
{
    const json_t *buffer = json_object_get(record, "buffer");
    return strcmp(sc_field_string(buffer, "kind", "?"), "none") != 0;
}

/* Returns how the event relates to the operation, in words. SC201 has words for a source that a
 * later driver call found changed (docs/hazards.md). */
static const char *relation(const struct sc_shown *hazard)
{
    if (!has_buffer(hazard->record))
        return "came in the capture begun by";
    if (hazard->subject == SC_OF_NODE)
        return "launched a graph with a node of";
    if (hazard->subject == SC_OF_NEIGHBOUR &&
        json_is_true(json_object_get(hazard->record, "advisory")))
        return "ran once, beside a capture; after a launch of the graph the memory was read by";
    if (hazard->subject == SC_OF_NEIGHBOUR)
        return "ran once, beside a capture whose graph has";
    return hazard->is_found_later ? "found changed the source of" : "came before the end of";
}

static const char *size_in_words(struct sc_scratch *scratch, const json_t *of)
{
    json_int_t bytes = sc_field_number(of, "size");
    return sc_scratch_print(scratch, NUMBER " byte%s", bytes, plural(bytes));
}

/* Describes the call that came too early, and the memory it hit. */
static void describe_event(struct sc_scratch *scratch, struct sc_shown *hazard)
{
    struct sc_call *event = &hazard->event;
    const json_t *buffer = json_object_get(hazard->record, "buffer");
    event->words = sc_scratch_print(scratch, "%s (thread %s)", event->api, event->thread_words);
    if (hazard->subject != SC_OF_MEMORY && has_buffer(hazard->record))
        event->words = sc_scratch_print(scratch, "%s, on %s memory at %s, %s", event->words,
                                        sc_field_string(buffer, "kind", "?"),
                                        sc_field_string(buffer, "address", "?"),
                                        size_in_words(scratch, buffer));
}

/* Words what was never freed: "with 100 blocks still held, 409600 bytes of device memory in all, by
 * cuMemAlloc_v2". */
static void describe_held(struct sc_scratch *scratch, struct sc_shown *hazard)
{
    const json_t *buffer = json_object_get(hazard->record, "buffer");
    json_int_t blocks = sc_field_number(buffer, "blocks");
    json_int_t room = sc_field_number(buffer, "room");
    const char *words =
        sc_scratch_print(scratch, "with " NUMBER " block%s%s, %s of %s memory in all", blocks,
                         plural(blocks), room ? "" : " still held", size_in_words(scratch, buffer),
                         sc_field_string(buffer, "kind", "?"));
    if (room)
        words = sc_scratch_print(scratch,
                                 "%s, for device " NUMBER ", which has " NUMBER " bytes: " NUMBER
                                 " lie on the host, and on no other GPU; most of it",
                                 words,
                                 sc_field_number(json_object_get(hazard->record, "copy"), "device"),
                                 room, sc_field_number(buffer, "size") - room);
    hazard->copy.words =
        sc_scratch_print(scratch, "%s%s by %s", words, room ? "" : ",", hazard->copy.api);
}

/* Words a limit that was set too late: "of CU_LIMIT_MALLOC_HEAP_SIZE: 67108864 was asked for, and
 * 8388608 stays in force since", and which launch came before. */
static void describe_limit(struct sc_scratch *scratch, struct sc_shown *hazard)
{
    const json_t *limit = json_object_get(hazard->record, "limit");
    const char *kernel = sc_field_string(limit, "kernel", NULL);
    bool is_known = hazard->copy.thread != 0;
    const char *first = !is_known ? "a launch that is not known"
                        : kernel
                            ? sc_scratch_print(scratch, "%s of %s (thread %s)", hazard->copy.api,
                                               kernel, hazard->copy.thread_words)
                            : sc_scratch_print(scratch, "%s (thread %s)", hazard->copy.api,
                                               hazard->copy.thread_words);
    hazard->copy.words = sc_scratch_print(
        scratch, "of %s: " NUMBER " was asked for, and " NUMBER " stays in force since %s",
        sc_field_string(limit, "name", "?"), sc_field_number(limit, "asked"),
        sc_field_number(limit, "in_force"), first);
}

/* Describes the operation that was hurt. Of a kernel only an address among its parameters is
 * known. */
static void describe_copy(struct sc_scratch *scratch, struct sc_shown *hazard)
{
    struct sc_call *call = &hazard->copy;
    const json_t *copy = json_object_get(hazard->record, "copy");
    const char *words = sc_scratch_print(scratch, "%s %s", relation(hazard), call->api);
    bool is_kernel = strcmp(hazard->direction, "none") == 0 &&
                     (hazard->subject == SC_OF_NEIGHBOUR || hazard->subject == SC_OF_COPY);
    if (is_kernel)
        words = sc_scratch_print(scratch, "%s with a parameter %s", words,
                                 sc_field_string(copy, "address", "?"));
    else if (has_buffer(hazard->record))
        words =
            sc_scratch_print(scratch, "%s %s, %s at %s", words, hazard->direction,
                             size_in_words(scratch, copy), sc_field_string(copy, "address", "?"));
    call->words =
        sc_scratch_print(scratch, "%s (stream %s, device " NUMBER ", thread %s)", words,
                         hazard->stream, sc_field_number(copy, "device"), call->thread_words);
}

/* Words what a node does: "a copy to the device that writes 65536 bytes at 0x7f, added by
 * cudaMemcpyAsync at a.c:3 in f". */
static const char *node_words(struct sc_scratch *scratch, const struct sc_frame_makers *makers,
                              const json_t *node)
{
    static const char *const names[][2] = {{"H2D", "a copy to the device"},
                                           {"D2H", "a copy to the host"},
                                           {"D2D", "a copy on the device"},
                                           {"memset", "a memset"}};
    const json_t *author = json_object_get(node, "author");
    const char *direction = sc_field_string(node, "direction", "?"), *name = "a node";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(direction, names[i][0]) == 0)
            name = names[i][1];
    const char *words =
        sc_scratch_print(scratch, "%s that %ss %s at %s", name, sc_field_string(node, "use", "use"),
                         size_in_words(scratch, node), sc_field_string(node, "address", "?"));
    if (!json_is_object(author))
        return words;
    const struct sc_call call = make_call(scratch, makers, author);
    return sc_scratch_print(scratch, "%s, added by %s", words, title_of_call(scratch, &call));
}

/* Makes words for the two nodes of a graph that race. If it is not known which call added the
 * first node, `copy` is the call that instantiated the graph, and is named as such. */
static void describe_nodes(struct sc_scratch *scratch, struct sc_shown *hazard)
{
    struct sc_call *call = &hazard->copy;
    const json_t *nodes = json_object_get(hazard->record, "nodes");
    bool is_known = json_is_object(json_object_get(json_array_get(nodes, 0), "author"));
    if (!hazard->nodes[0])
        return;
    call->words = sc_scratch_print(scratch, "launched a graph with no order between %s and %s",
                                   hazard->nodes[0], hazard->nodes[1]);
    if (!is_known)
        call->words = sc_scratch_print(scratch, "%s; the graph was made ready by %s (thread %s)",
                                       call->words, call->api, call->thread_words);
}

static void describe_freed(struct sc_scratch *scratch, struct sc_shown *hazard)
{
    struct sc_call *freed = &hazard->freed;
    if (freed->api)
        freed->words = sc_scratch_print(scratch, "freed before by %s (thread %s)", freed->api,
                                        freed->thread_words);
}

/* ---- times and counts ---- */

/* Returns a duration in words: "1.3 ms". */
static const char *time_of(struct sc_scratch *scratch, double ns)
{
    if (ns >= 1e9)
        return sc_scratch_print(scratch, "%.1f s", ns / 1e9);
    if (ns >= 1e6)
        return sc_scratch_print(scratch, "%.1f ms", ns / 1e6);
    return sc_scratch_print(scratch, "%.1f us", ns / 1e3);
}

/* Takes when the copy was on the device. All of its times are of one occurrence, which need not be
 * that of the last line. */
static void take_timing(struct sc_shown *hazard)
{
    const json_t *timing = json_object_get(hazard->record, "timing");
    hazard->is_timed = json_is_object(timing);
    if (!hazard->is_timed)
        return;
    hazard->copy.time_ns = sc_field_number(timing, "copy_time_ns");
    hazard->event.time_ns = sc_field_number(timing, "event_time_ns");
    hazard->start_ns = sc_field_number(timing, "device_start_ns");
    hazard->end_ns = sc_field_number(timing, "device_end_ns");
}

/* Words what the copy did on the device, seen from the event. */
static void describe_timing(struct sc_scratch *scratch, struct sc_shown *hazard)
{
    const json_t *timing = json_object_get(hazard->record, "timing");
    double taken = (double)hazard->end_ns - (double)hazard->start_ns;
    double remaining = (double)sc_field_number(timing, "remaining_ns");
    if (!hazard->is_timed)
        return;
    const char *words = remaining > 0 ? sc_scratch_print(scratch, "the copy had %s left to run",
                                                         time_of(scratch, remaining))
                                      : sc_scratch_print(scratch, "the copy had been over for %s",
                                                         time_of(scratch, -remaining));
    if (remaining > taken)
        words = sc_scratch_print(scratch, "%s, and was to begin in %s", words,
                                 time_of(scratch, remaining - taken));
    hazard->timing = sc_scratch_print(scratch, "%s; it took %s", words, time_of(scratch, taken));
}

/* Returns how often the hazard came, in how many runs and ranks. */
static const char *count_of(struct sc_scratch *scratch, const json_t *record)
{
    json_int_t count = sc_field_number(record, "count"), runs = sc_field_number(record, "runs");
    bool is_least = json_is_true(json_object_get(record, "count_is_least"));
    const char *words = sc_scratch_print(scratch, "%s" NUMBER " time%s",
                                         is_least ? "at least " : "", count, plural(count));
    const char *ranks = sc_field_string(record, "ranks", NULL);
    if (runs > 1)
        words = sc_scratch_print(scratch, "%s in " NUMBER " runs", words, runs);
    return ranks ? sc_scratch_print(scratch, "%s (rank%s %s)", words,
                                    strpbrk(ranks, ",-") ? "s" : "", ranks)
                 : words;
}

/* ---- the whole ---- */

/* Describes where buffer and stream were made. */
static void describe_origins(struct sc_scratch *scratch, struct sc_shown *hazard)
{
    for (size_t i = 0; i < hazard->origin_count; i++) {
        struct sc_call *origin = &hazard->origins[i];
        origin->words =
            sc_scratch_print(scratch, "%s %s", origin->words, title_of_call(scratch, origin));
    }
}

/* Adds where the memory or the stream comes from; `relation`: the words for it. */
static void add_origin(struct sc_shown *hazard, struct sc_scratch *scratch,
                       const struct sc_frame_makers *makers, const json_t *origin,
                       const char *relation)
{
    if (!json_is_object(origin))
        return;
    struct sc_call *call = &hazard->origins[hazard->origin_count++];
    *call = make_call(scratch, makers, origin);
    call->words = relation;
}

/* Takes a hazard's record apart, and finds the names of its frames. */
struct sc_shown sc_shown_hazards_make(struct sc_scratch *scratch,
                                      const struct sc_frame_makers *makers, json_t *record)
{
    const json_t *copy = json_object_get(record, "copy");
    struct sc_shown hazard = {
        .record = record,
        .code = sc_field_string(record, "code", "?"),
        .certainty = sc_field_string(record, "certainty", "?"),
        .action = sc_field_string(record, "action", "?"),
        .label = sc_field_string(record, "label", NULL),
        .suppression = sc_finding_suppression(record),
        .occurrences = sc_field_number(record, "count"),
        .is_found_later = json_is_true(json_object_get(record, "found_later")),
        .stream = sc_field_string(copy, "stream", "?"),
        .direction = sc_field_string(copy, "direction", "?"),
        .copy = make_call(scratch, makers, copy),
        .event = make_call(scratch, makers, json_object_get(record, "event")),
        .freed = make_freed(scratch, makers, json_object_get(record, "freed")),
    };
    const struct words *words = words_of_code(hazard.code);
    hazard.name = words->name ? words->name : sc_field_string(record, "name", "?");
    hazard.subject = words->subject;
    const json_t *nodes = json_object_get(record, "nodes");
    for (size_t i = 0; i < 2 && json_array_size(nodes) == 2; i++)
        hazard.nodes[i] = node_words(scratch, makers, json_array_get(nodes, i));
    add_origin(&hazard, scratch, makers,
               json_object_get(json_object_get(record, "buffer"), "origin"),
               "the memory comes from");
    add_origin(&hazard, scratch, makers, json_object_get(copy, "stream_origin"),
               "the stream comes from");
    take_timing(&hazard);
    return hazard;
}

/* Returns one line that says which hazard it is, with both places. */
const char *sc_shown_hazards_title(struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    return sc_scratch_print(scratch, "%s %s: %s; %s", hazard->code, hazard->name,
                            title_of_call(scratch, &hazard->event),
                            title_of_call(scratch, &hazard->copy));
}

/* Adds the words for everything, which only what is shown needs. */
void sc_shown_hazards_describe(struct sc_scratch *scratch, struct sc_shown *hazard)
{
    hazard->count = count_of(scratch, hazard->record);
    hazard->outcome = outcome_of(hazard->code, hazard->action);
    hazard->advice = words_of_code(hazard->code)->advice;
    describe_event(scratch, hazard);
    if (hazard->subject == SC_OF_MEMORY)
        describe_held(scratch, hazard);
    else if (hazard->subject == SC_OF_LIMIT)
        describe_limit(scratch, hazard);
    else
        describe_copy(scratch, hazard);
    describe_nodes(scratch, hazard);
    describe_freed(scratch, hazard);
    describe_origins(scratch, hazard);
    describe_timing(scratch, hazard);
    hazard->title = sc_shown_hazards_title(scratch, hazard);
}
