/* A trace for Perfetto (ui.perfetto.dev). A process has a track, with one for each thread and each
 * stream below it. A copy is a slice. A flow leads from the call that made the copy to the copy
 * and the call that came too early, in the order of time. Slices of one stream that overlap lie on
 * tracks of the same name. Memory over time is a counter a place. Processes are no process
 * descriptors of Perfetto's, which tells them apart by pid alone and knows one host. Field numbers
 * are those of perfetto/trace/trace_packet.proto and track_event/.
 */
#include "report/command/fields.h"
#include "report/command/formats/formats.h"
#include "report/command/formats/protobuf.h"
#include "report/command/memory_history.h"
#include "report/command/say.h"
#include "report/command/shown.h"
#include "report/command/shown_memory.h"
#include "report/command/table.h"

#include <stdlib.h>
#include <string.h>

enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_DESCRIPTOR = 60,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    COUNTER_UNIT = 3,
    UNIT_SIZE_BYTES = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_CATEGORY = 22,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30,
    EVENT_FLOW = 47,
    EVENT_LAST_FLOW = 48,
    ANNOTATION_STRING = 6,
    ANNOTATION_NAME = 10,
};

enum type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };

/* When the copy of a hazard ran, as far as is known. */
struct slice {
    size_t hazard;
    uint64_t begin, end;
    struct sc_digest stream;
    size_t lane; /* of those tracks of the stream on which slices do not overlap */
};

struct trace {
    FILE *out;
    struct sc_model *model;
    struct slice *slices; /* by hazard */
    uint64_t *processes;  /* by run: the uuid of its track */
    struct sc_table tracks;
    struct track *first;
};

/* A track that has its descriptor. */
struct track {
    struct sc_node node;
    struct track *next;
};

/* ---- slices ---- */

static uint64_t number_of(const json_t *side, const char *key)
{
    return (uint64_t)sc_field_number(side, key);
}

/* Returns when the operation of a hazard was on its stream, by the hazard's line alone: all slices
 * are needed before the first is written, and finding their frames would take long. */
static struct slice slice_of(const struct trace *trace, size_t index)
{
    const struct sc_hazard_place *place = &trace->model->chosen[index];
    json_t *record = sc_hazard_place_read(place);
    const json_t *copy = json_object_get(record, "copy");
    const json_t *timing = json_object_get(record, "timing");
    struct sc_digester digester;
    struct slice slice = {.hazard = index};
    slice.begin =
        json_is_object(timing) ? number_of(timing, "device_start_ns") : number_of(copy, "time_ns");
    slice.end = json_is_object(timing) ? number_of(timing, "device_end_ns")
                                       : number_of(json_object_get(record, "event"), "time_ns");
    if (slice.end <= slice.begin)
        slice.end = slice.begin + 1;
    sc_digest_begin_fixed(&digester);
    sc_digest_number(&digester, (int64_t)trace->processes[place->finding->last_run]);
    sc_digest_word(&digester, sc_field_string(copy, "stream", "?"));
    slice.stream = sc_digest_end(&digester);
    json_decref(record);
    return slice;
}

/* Compares slices, the boxes of the timeline, by stream and then by their begin. */
static int by_stream_and_begin(const void *a, const void *b)
{
    const struct slice *left = a, *right = b;
    int order = memcmp(&left->stream, &right->stream, sizeof left->stream);
    if (order != 0)
        return order;
    return left->begin < right->begin ? -1 : left->begin > right->begin;
}

/* Compares slices by the order of their hazards. */
static int by_hazard(const void *a, const void *b)
{
    const struct slice *left = a, *right = b;
    return left->hazard < right->hazard ? -1 : left->hazard > right->hazard;
}

enum { LANES_MAX = 256 };

/* Returns the first lane that is free, or the last one if none is. */
static size_t find_lane(const uint64_t *ends, uint64_t begin)
{
    size_t lane = 0;
    while (lane < LANES_MAX - 1 && ends[lane] > begin)
        lane++;
    return lane;
}

/* Gives each slice a lane of its stream, so that those that overlap in time are drawn below each
 * other. */
static void assign_lanes(struct slice *slices, size_t count)
{
    uint64_t ends[LANES_MAX] = {0};
    qsort(slices, count, sizeof *slices, by_stream_and_begin);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && memcmp(&slices[i].stream, &slices[i - 1].stream, sizeof slices[i].stream) != 0)
            memset(ends, 0, sizeof ends);
        slices[i].lane = find_lane(ends, slices[i].begin);
        ends[slices[i].lane] = slices[i].end;
    }
    qsort(slices, count, sizeof *slices, by_hazard);
}

/* Makes a slice of the timeline for each hazard, on lanes so that none overlaps. NULL: no
 * memory. */
static struct slice *make_slices(const struct trace *trace)
{
    struct sc_model *model = trace->model;
    struct slice *slices = calloc(model->count + 1, sizeof *slices);
    for (size_t i = 0; slices && i < model->count; i++)
        slices[i] = slice_of(trace, i);
    if (slices)
        assign_lanes(slices, model->count);
    return slices;
}

/* ---- packets ---- */

/* Begins an empty message of the trace. */
static struct sc_protobuf message_in(const struct trace *trace)
{
    return (struct sc_protobuf){.scratch = &trace->model->scratch};
}

/* Writes a packet of the trace file. */
static void write_packet(struct trace *trace, const struct sc_protobuf *packet)
{
    struct sc_protobuf framed = message_in(trace);
    sc_protobuf_message(&framed, TRACE_PACKET, packet);
    fwrite(framed.bytes, 1, framed.size, trace->out);
}

/* Writes the description of a track; `parent` 0: none. */
static void describe_track(struct trace *trace, uint64_t uuid, uint64_t parent, const char *name,
                           bool is_counter)
{
    struct sc_protobuf track = message_in(trace), packet = message_in(trace);
    struct sc_protobuf counter = message_in(trace);
    sc_protobuf_number(&track, TRACK_UUID, uuid);
    sc_protobuf_string(&track, TRACK_NAME, sc_say_plain(name));
    if (parent != 0)
        sc_protobuf_number(&track, TRACK_PARENT, parent);
    sc_protobuf_number(&counter, COUNTER_UNIT, UNIT_SIZE_BYTES);
    if (is_counter)
        sc_protobuf_message(&track, TRACK_COUNTER, &counter);
    sc_protobuf_number(&packet, PACKET_SEQUENCE, 1);
    sc_protobuf_message(&packet, PACKET_DESCRIPTOR, &track);
    write_packet(trace, &packet);
}

/* Notes that the track has been described. Returns whether it had not been. */
static bool note_new_track(struct trace *trace, const struct sc_digest *digest)
{
    struct track *track = sc_table_find(&trace->tracks, digest) ? NULL : calloc(1, sizeof *track);
    if (!track)
        return false;
    track->node.digest = *digest;
    track->next = trace->first;
    trace->first = track;
    sc_table_add(&trace->tracks, &track->node);
    return true;
}

/* Returns the id of the run's process, described when it first comes. A process is identified by
 * pid, host and rank: it may have several runs, and another host the same pid. */
static uint64_t process_of(struct trace *trace, const struct sc_run *run)
{
    const json_t *line = json_object_get(run->record, "run");
    const char *rank = sc_field_string(line, "rank", NULL);
    struct sc_digester digester;
    sc_digest_begin_fixed(&digester);
    sc_digest_number(&digester, run->pid);
    sc_digest_word(&digester, sc_field_string(line, "host", ""));
    sc_digest_word(&digester, rank ? rank : "");
    struct sc_digest digest = sc_digest_end(&digester);
    uint64_t uuid = digest.words[0] | 1;
    if (note_new_track(trace, &digest))
        describe_track(trace, uuid, 0, sc_shown_memory_title(&trace->model->scratch, run), false);
    return uuid;
}

/* Writes a track for each process, and returns their ids; NULL: no memory. */
static uint64_t *describe_processes(struct trace *trace)
{
    size_t count = trace->model->reader->run_count;
    uint64_t *processes = calloc(count + 1, sizeof *processes);
    for (size_t i = 0; processes && i < count; i++)
        processes[i] = process_of(trace, sc_model_run(trace->model, i));
    return processes;
}

/* Returns the track of this name in the process, made when it is first asked for. */
static uint64_t track_in(struct trace *trace, uint64_t process, const char *name, size_t lane,
                         bool is_counter)
{
    struct sc_digester digester;
    sc_digest_begin_fixed(&digester);
    sc_digest_number(&digester, (int64_t)process);
    sc_digest_word(&digester, name);
    sc_digest_number(&digester, (int64_t)lane);
    struct sc_digest digest = sc_digest_end(&digester);
    uint64_t uuid = digest.words[0] | 1;
    if (note_new_track(trace, &digest))
        describe_track(trace, uuid, process, name, is_counter);
    return uuid;
}

/* Returns the track of a stream or thread of the process, made at first use. */
static uint64_t track_of(struct trace *trace, uint64_t process, const char *name, size_t lane)
{
    return track_in(trace, process, name, lane, false);
}

/* ---- events ---- */

/* Begins an event on the track. */
static struct sc_protobuf event_on(const struct trace *trace, uint64_t track, enum type type)
{
    struct sc_protobuf event = message_in(trace);
    sc_protobuf_number(&event, EVENT_TYPE, type);
    sc_protobuf_number(&event, EVENT_TRACK, track);
    return event;
}

/* Writes the event with its time, in the one sequence that the trace has. */
static void write_event(struct trace *trace, const struct sc_protobuf *event, uint64_t time_ns)
{
    struct sc_protobuf packet = message_in(trace);
    sc_protobuf_number(&packet, PACKET_TIMESTAMP, time_ns);
    sc_protobuf_number(&packet, PACKET_SEQUENCE, 1);
    sc_protobuf_message(&packet, PACKET_EVENT, event);
    write_packet(trace, &packet);
}

static void name_event(struct sc_protobuf *event, const char *name)
{
    sc_protobuf_string(event, EVENT_CATEGORY, "safecopy");
    sc_protobuf_string(event, EVENT_NAME, sc_say_plain(name));
}

/* Adds a named text to the event; NULL adds nothing. */
static void annotate(const struct trace *trace, struct sc_protobuf *event, const char *key,
                     const char *value)
{
    struct sc_protobuf annotation = message_in(trace);
    if (!value)
        return;
    sc_protobuf_string(&annotation, ANNOTATION_NAME, key);
    sc_protobuf_string(&annotation, ANNOTATION_STRING, sc_say_plain(value));
    sc_protobuf_message(event, EVENT_ANNOTATION, &annotation);
}

/* Adds the frames to the event, numbered so that they are shown in order. */
static void annotate_stack(const struct trace *trace, struct sc_protobuf *event,
                           const struct sc_frames *stack)
{
    for (size_t i = 0; i < stack->count; i++)
        annotate(trace, event, sc_scratch_print(&trace->model->scratch, "stack.%02zu", i),
                 stack->frames[i].words);
}

/* ---- hazards ---- */

/* Writes a call as an instant on its thread's track, with an arrow to the copy. */
static void write_call(struct trace *trace, const struct sc_shown *hazard,
                       const struct sc_call *call, unsigned flow_field, uint64_t flow)
{
    struct sc_scratch *scratch = &trace->model->scratch;
    const char *thread = sc_scratch_print(scratch, "thread %" JSON_INTEGER_FORMAT, call->thread);
    struct sc_protobuf event =
        event_on(trace, track_of(trace, trace->processes[hazard->run], thread, 0), INSTANT);
    bool is_early = call == &hazard->event;
    name_event(&event,
               is_early ? sc_scratch_print(scratch, "%s %s", hazard->code, call->api) : call->api);
    sc_protobuf_fixed(&event, flow_field, flow);
    annotate(trace, &event, "call", call->words);
    annotate(trace, &event, "hazard", is_early ? hazard->title : NULL);
    annotate(trace, &event, "what to do", is_early ? hazard->advice : NULL);
    annotate_stack(trace, &event, &call->stack);
    write_event(trace, &event, (uint64_t)call->time_ns);
}

/* Writes the copy as a bar on its stream's track. */
static void write_slice(struct trace *trace, const struct sc_shown *hazard,
                        const struct slice *slice, unsigned flow_field, uint64_t flow)
{
    const char *name = sc_scratch_print(&trace->model->scratch, "stream %s", hazard->stream);
    uint64_t track = track_of(trace, trace->processes[hazard->run], name, slice->lane);
    struct sc_protobuf begin = event_on(trace, track, SLICE_BEGIN);
    struct sc_protobuf end = event_on(trace, track, SLICE_END);
    name_event(&begin, sc_scratch_print(&trace->model->scratch, "%s %s", hazard->copy.api,
                                        hazard->direction));
    sc_protobuf_fixed(&begin, flow_field, flow);
    annotate(trace, &begin, "copy", hazard->copy.words);
    annotate(trace, &begin, "on the device",
             hazard->timing ? hazard->timing : "not timed: drawn from the call to the event");
    write_event(trace, &begin, slice->begin);
    write_event(trace, &end, slice->end);
}

/* Writes a hazard's calls and copy with an arrow between them. Nothing belongs to an arrow that is
 * later than its end, so it ends at the copy or at the event, whichever is later. */
static void write_hazard(struct trace *trace, size_t index)
{
    const struct sc_shown *hazard = sc_model_hazard(trace->model, index);
    const struct slice *slice = &trace->slices[index];
    bool has_slice = hazard->subject == SC_OF_COPY;
    bool ends_with_slice = has_slice && slice->begin > (uint64_t)hazard->event.time_ns;
    uint64_t flow = index + 1;
    write_call(trace, hazard, &hazard->copy, EVENT_FLOW, flow);
    if (has_slice)
        write_slice(trace, hazard, slice, ends_with_slice ? EVENT_LAST_FLOW : EVENT_FLOW, flow);
    if (hazard->freed.api)
        write_call(trace, hazard, &hazard->freed, EVENT_FLOW, flow);
    write_call(trace, hazard, &hazard->event, ends_with_slice ? EVENT_FLOW : EVENT_LAST_FLOW, flow);
}

/* ---- post-mortems ---- */

/* Writes, on the track of the process, that its context was lost. */
static void write_lost(struct trace *trace, size_t index)
{
    const struct sc_run *run = sc_model_run(trace->model, index);
    if (!run->lost)
        return;
    struct sc_protobuf event = event_on(trace, trace->processes[index], INSTANT);
    name_event(&event, run->lost->words);
    annotate_stack(trace, &event, &run->lost->stack);
    write_event(trace, &event, (uint64_t)run->lost_ns);
}

/* ---- memory ---- */

/* Writes one value of a counter. */
static void write_count(struct trace *trace, uint64_t process, const char *name, json_int_t time_ns,
                        uint64_t bytes)
{
    struct sc_protobuf event = event_on(trace, track_in(trace, process, name, 0, true), COUNTER);
    sc_protobuf_number(&event, EVENT_COUNTER_VALUE, bytes);
    write_event(trace, &event, (uint64_t)time_ns);
}

/* Writes counters of what the process holds at a place, of what is in use of the device, and of
 * what the driver has for itself. */
static void write_place(struct trace *trace, size_t index, const struct sc_run *run,
                        const struct sc_memory *memory, const struct sc_memory_place *place)
{
    struct sc_scratch *scratch = &trace->model->scratch;
    const char *own = sc_scratch_print(scratch, "memory of %s", place->name);
    const char *unaccounted = sc_scratch_print(scratch, "%s, unaccounted", place->name);
    const char *used = sc_scratch_print(scratch, "%s, in use by all", place->name);
    size_t count;
    const struct sc_memory_moment *moments =
        sc_memory_history_of(scratch, run, memory, place, &count);
    for (size_t i = 0; i < count; i++) {
        uint64_t process = trace->processes[index];
        write_count(trace, process, own, moments[i].time_ns, moments[i].bytes);
        if (moments[i].knows_used)
            write_count(trace, process, used, moments[i].time_ns, moments[i].used_bytes);
        if (moments[i].knows_unaccounted)
            write_count(trace, process, unaccounted, moments[i].time_ns,
                        moments[i].unaccounted_bytes);
    }
}

/* Writes how the run's memory changed over time, as counters. */
static void write_memory(struct trace *trace, size_t index)
{
    const struct sc_run *run = sc_model_run(trace->model, index);
    const struct sc_memory memory = sc_shown_memory_of_run(trace->model, run);
    for (size_t i = 0; i < memory.place_count; i++)
        write_place(trace, index, run, &memory, &memory.places[i]);
}

/* Writes a trace for Perfetto: hazards, lost contexts and memory on one timeline. */
void sc_as_perfetto(FILE *out, struct sc_model *model)
{
    struct trace trace = {.out = out, .model = model};
    trace.processes = describe_processes(&trace);
    trace.slices = trace.processes ? make_slices(&trace) : NULL;
    for (size_t i = 0; trace.slices && i < model->count; i++)
        write_hazard(&trace, i);
    for (size_t i = 0; trace.processes && i < model->reader->run_count; i++)
        write_lost(&trace, i);
    for (size_t i = 0; trace.processes && i < model->reader->run_count; i++)
        write_memory(&trace, i);
    sc_table_free(&trace.tracks);
    while (trace.first) {
        struct track *track = trace.first;
        trace.first = track->next;
        free(track);
    }
    free(trace.slices);
    free(trace.processes);
}
