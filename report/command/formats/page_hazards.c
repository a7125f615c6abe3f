#define _GNU_SOURCE 1
#include "report/command/formats/page_hazards.h"

#include "report/command/command.h"
#include "report/command/fingerprint.h"
#include "report/command/formats/page_json.h"
#include "report/command/formats/source_place.h"
#include "report/command/mistake.h"
#include "report/command/say.h"
#include "report/command/shown.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is written once ---- */

/* Values by the ids of frames, of which each is written with the first hazard that has it. */
struct shared {
    FILE *out;
    char *text;
    size_t size;
    bool *has;
    size_t capacity;
};

struct writing {
    struct sc_model *model;
    struct shared frames, sources;
};

/* Ends the command if there is no memory: a page cannot be written in part. */
static void *or_die(void *memory)
{
    if (!memory) {
        sc_say("out of memory");
        exit(SC_COMMAND_USAGE);
    }
    return memory;
}

/* Begins a list of values that several hazards share (stacks, say): each is written once and
 * referred to by number. */
static void begin_shared(struct shared *shared)
{
    *shared = (struct shared){0};
    shared->out = or_die(open_memstream(&shared->text, &shared->size));
}

/* Notes that the shared part (a frame, a source) with this number is written. Returns whether it
 * was not yet. */
static bool note_first(struct shared *shared, uint64_t id)
{
    if (id >= shared->capacity) {
        size_t capacity = 2 * (size_t)id + 64;
        shared->has = or_die(realloc(shared->has, capacity * sizeof *shared->has));
        memset(shared->has + shared->capacity, 0, capacity - shared->capacity);
        shared->capacity = capacity;
    }
    bool is = !shared->has[id];
    shared->has[id] = true;
    return is;
}

/* Writes a shared value under its number. */
static void put_shared(struct shared *shared, uint64_t id, json_t *value)
{
    fprintf(shared->out, "%s\"%" PRIu64 "\":", ftell(shared->out) > 0 ? ",\n" : "", id);
    sc_page_json_put(shared->out, value);
    json_decref(value);
}

/* Writes the frames or sources that several hazards share, which were collected meanwhile. */
static void end_shared(FILE *out, const char *name, struct shared *shared)
{
    or_die(fclose(shared->out) == 0 ? shared->text : NULL);
    fprintf(out, ",\n\"%s\":{", name);
    fwrite_unlocked(shared->text, 1, shared->size, out);
    putc_unlocked('}', out);
    free(shared->text);
    free(shared->has);
}

/* ---- sides ---- */

/* Returns the stack as the numbers of its frames; each frame is written once, among the shared
 * ones. */
static json_t *write_stack(struct writing *writing, const struct sc_frames *stack)
{
    json_t *ids = json_array();
    for (size_t i = 0; i < stack->count; i++) {
        const struct sc_frame *frame = &stack->frames[i];
        json_array_append_new(ids, json_integer((json_int_t)frame->id));
        if (!note_first(&writing->frames, frame->id))
            continue;
        json_t *value = json_array();
        json_array_append_new(value, json_integer(frame->kind));
        sc_page_json_append(value, frame->words);
        put_shared(&writing->frames, frame->id, value);
    }
    return ids;
}

/* Makes the excerpt's lines: an array with the first line's number in front. */
static json_t *write_lines(const struct sc_excerpt *excerpt)
{
    json_t *lines = json_array();
    json_array_append_new(lines, json_integer((json_int_t)excerpt->first));
    for (size_t i = 0; i < excerpt->count; i++)
        sc_page_json_append(lines, excerpt->lines[i]);
    return lines;
}

/* Makes what is marked in a line of source: the line's index, what stands before the mark, and
 * what is marked. */
static json_t *write_mark(struct sc_scratch *scratch, const struct sc_mistake_side *side)
{
    const struct sc_source_span *mark = &side->mark;
    const char *line = side->excerpt.lines[mark->line];
    json_t *value = json_array();
    json_array_append_new(value, json_integer((json_int_t)mark->line));
    sc_page_json_append(value, sc_scratch_print(scratch, "%.*s", (int)mark->from, line));
    sc_page_json_append(
        value, sc_scratch_print(scratch, "%.*s", (int)(mark->to - mark->from), line + mark->from));
    return value;
}

/* Returns one of the hazard's calls, with the lines of source around it. */
static json_t *write_side(struct writing *writing, const char *role,
                          const struct sc_mistake_side *side)
{
    struct sc_scratch *scratch = &writing->model->scratch;
    const struct sc_frame *user = side->call->stack.user, *library = side->call->stack.library;
    json_t *value = json_object();
    sc_page_json_add(value, "role", role);
    sc_page_json_add(value, "call", side->call->api);
    sc_page_json_add(value, "words", side->call->words);
    sc_page_json_add(value, "place", user ? sc_frames_shown_place(scratch, user) : NULL);
    sc_page_json_add(value, "library", library ? sc_frames_shown_place(scratch, library) : NULL);
    json_object_set_new(value, "stack", write_stack(writing, &side->call->stack));
    if (side->excerpt.count == 0)
        return value;
    sc_page_json_add(value, "file", user->file);
    json_object_set_new(value, "line", json_integer(user->line));
    json_object_set_new(value, "source", json_integer((json_int_t)user->id));
    if (note_first(&writing->sources, user->id))
        put_shared(&writing->sources, user->id, write_lines(&side->excerpt));
    if (side->is_marked)
        json_object_set_new(value, "mark", write_mark(scratch, side));
    return value;
}

/* Makes the calls that are shown beside each other: the one too early, the operation, and the
 * free. */
static json_t *write_sides(struct writing *writing, const struct sc_mistake *mistake)
{
    json_t *sides = json_array();
    json_array_append_new(sides, write_side(writing, "event", &mistake->event));
    json_array_append_new(sides, write_side(writing, "operation", &mistake->copy));
    if (mistake->freed.call)
        json_array_append_new(sides, write_side(writing, "free", &mistake->freed));
    return sides;
}

/* Makes the calls that made buffer and stream. */
static json_t *write_origins(struct writing *writing, const struct sc_shown *hazard)
{
    json_t *origins = json_array();
    for (size_t i = 0; i < hazard->origin_count; i++) {
        json_t *origin = json_object();
        sc_page_json_add(origin, "words", hazard->origins[i].words);
        json_object_set_new(origin, "stack", write_stack(writing, &hazard->origins[i].stack));
        json_array_append_new(origins, origin);
    }
    return origins;
}

/* ---- the rest of a hazard ---- */

/* Makes the sentence that says what went wrong, in pieces, every second of which is code. */
static json_t *write_pieces(const struct sc_mistake *mistake)
{
    json_t *pieces = json_array();
    for (size_t i = 0; i < mistake->piece_count; i++)
        sc_page_json_append(pieces, mistake->pieces[i]);
    return pieces;
}

/* Returns the lines of the sketch that would mend the hazard. */
static json_t *write_hint(const struct sc_mistake *mistake)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < mistake->hint_count; i++) {
        const struct sc_mistake_hint *hint = &mistake->hint[i];
        json_t *line = json_array();
        sc_page_json_append(line, (char[]){hint->sign, '\0'});
        json_array_append_new(line, json_integer((json_int_t)hint->number));
        sc_page_json_append(line, hint->text);
        json_array_append_new(lines, line);
    }
    return lines;
}

/* Adds when what happened, in ns from the call that issued the operation; nothing where these are
 * not in an order. */
static void add_times(json_t *value, const struct sc_shown *hazard)
{
    json_int_t issue = hazard->copy.time_ns, event = hazard->event.time_ns;
    bool is_known = issue > 0 && issue <= event;
    bool is_timed = hazard->is_timed && issue <= hazard->start_ns &&
                    hazard->start_ns <= hazard->end_ns && !hazard->freed.api;
    if (is_known)
        json_object_set_new(value, "event_ns", json_integer(event - issue));
    if (!is_known || !is_timed)
        return;
    json_object_set_new(value, "start_ns", json_integer(hazard->start_ns - issue));
    json_object_set_new(value, "end_ns", json_integer(hazard->end_ns - issue));
}

/* Adds what is known of the hazard, as the page's script reads it; NULL is left out. */
static void add_facts(json_t *value, const struct sc_shown *hazard)
{
    sc_page_json_add(value, "code", hazard->code);
    sc_page_json_add(value, "name", hazard->name);
    sc_page_json_add(value, "certainty", hazard->certainty);
    sc_page_json_add(value, "count", hazard->count);
    json_object_set_new(value, "times", json_integer(hazard->occurrences));
    sc_page_json_add(value, "outcome", hazard->outcome);
    sc_page_json_add(value, "advice", hazard->advice);
    sc_page_json_add(value, "label", hazard->label);
    sc_page_json_add(value, "suppression", hazard->suppression);
    sc_page_json_add(value, "news", hazard->news);
    sc_page_json_add(value, "grown", hazard->grown);
    if (json_is_true(json_object_get(hazard->record, "advisory")))
        json_object_set_new(value, "advisory", json_true());
    sc_page_json_add(value, "timing", hazard->timing);
    sc_page_json_add(value, "stream", hazard->stream);
    sc_page_json_add(value, "direction", hazard->direction);
    sc_page_json_add(value, "thread", hazard->event.thread_words);
}

/* Adds the file under which the page lists the hazard. */
static void add_file(json_t *value, struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    const struct sc_frame *place = sc_source_place_of(hazard);
    const struct sc_frame *user =
        hazard->event.stack.user ? hazard->event.stack.user : hazard->copy.stack.user;
    sc_page_json_add(value, "file",
                     place  ? sc_source_place_path(scratch, place)
                     : user ? user->module
                            : NULL);
    if (place)
        json_object_set_new(value, "line", json_integer(place->line));
}

/* Makes all that the page shows of one hazard. */
static json_t *write_hazard(struct writing *writing, size_t index)
{
    struct sc_model *model = writing->model;
    const struct sc_shown *hazard = sc_model_hazard(model, index);
    const struct sc_mistake mistake = sc_mistake_make(model, hazard);
    json_t *value = json_object();
    sc_page_json_add(value, "id", sc_fingerprint_make(&model->scratch, hazard));
    add_facts(value, hazard);
    add_file(value, &model->scratch, hazard);
    add_times(value, hazard);
    json_object_set_new(value, "mistake", write_pieces(&mistake));
    json_object_set_new(value, "sides", write_sides(writing, &mistake));
    json_object_set_new(value, "origins", write_origins(writing, hazard));
    if (mistake.hint_count > 0) {
        json_object_set_new(value, "hint", write_hint(&mistake));
        sc_page_json_add(value, "hint_file", mistake.hint_file);
        sc_page_json_add(value, "hint_note", mistake.hint_note);
    }
    return value;
}

/* Writes the hazards for the page's script. */
void sc_page_hazards_write(FILE *out, struct sc_model *model, size_t count)
{
    struct writing writing = {.model = model};
    begin_shared(&writing.frames);
    begin_shared(&writing.sources);
    fputs("\"hazards\":[", out);
    for (size_t i = 0; i < count; i++) {
        json_t *value = write_hazard(&writing, i);
        fputs(i > 0 ? ",\n" : "\n", out);
        sc_page_json_put(out, value);
        json_decref(value);
    }
    putc_unlocked(']', out);
    end_shared(out, "frames", &writing.frames);
    end_shared(out, "sources", &writing.sources);
}
