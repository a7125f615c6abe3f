#define _GNU_SOURCE 1
#include "report/command/frames_shown.h"

#include "report/command/demangle.h"
#include "report/command/fields.h"
#include "report/command/short_name.h"

#include <stdlib.h>
#include <string.h>

enum {
    FRAMES_MAX = 4096, /* the library's own stacks have 64 */
    CACHED_MAX = SC_PIECES_MAX,
    TEXT_MAX_BYTES = 32 * 1024 * 1024, /* in names as they are this is for many more */
    ANNOUNCED_MAX = 4,                 /* builds; others are asked about one by one */
};

/* What one frame of the report becomes: what is inlined there, and itself. */
struct sc_frames_made {
    struct sc_node node; /* by the address of the record, and the builds */
    json_t *record;      /* as long as it is kept, no other has this address */
    json_t *named;       /* as in sc_frame */
    struct sc_frames_made *next;
    size_t count;
    struct sc_frame frames[SC_SOURCE_PLACES_MAX];
};

/* ---- words ---- */

/* Returns the frame's function in short, "?" if it is not known. */
static const char *name_of(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    return frame->function ? sc_short_name(scratch, frame->function) : "?";
}

/* Returns the place of a frame without a line: "upload (train+0x12)". The whole path of the module
 * stands with the stack. */
static const char *place_in_module(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    const char *module = frame->module ? basename(frame->module) : "";
    const char *plus = module[0] != '\0' ? "+" : "";
    if (!frame->function)
        return sc_scratch_print(scratch, "%s%s%s", module, plus, frame->offset);
    return sc_scratch_print(scratch, "%s (%s%s%s)", name_of(scratch, frame), module, plus,
                            frame->offset);
}

/* Returns how many frames right before `end` are the runtime's. */
size_t sc_frames_shown_runtimes(const struct sc_frames *frames, size_t end)
{
    size_t at = end;
    while (at > 0 && frames->frames[at - 1].module &&
           frames->frames[at - 1].kind == SC_FRAME_RUNTIME)
        at--;
    return end - at;
}

/* Returns a frame as one phrase: the line and the function. */
const char *sc_frames_shown_place(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    const char *function = name_of(scratch, frame);
    if (!frame->file)
        return place_in_module(scratch, frame);
    if (frame->line <= 0)
        return sc_scratch_print(scratch, "%s in %s", frame->file, function);
    return sc_scratch_print(scratch, "%s:%" JSON_INTEGER_FORMAT " in %s", frame->file, frame->line,
                            function);
}

/* Returns where the frame's code lies: its module and offset. */
static const char *origin_of(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    if (frame->is_inlined)
        return "(inlined)";
    return sc_scratch_print(scratch, "(%s%s%s)", frame->module ? frame->module : "",
                            frame->module ? "+" : "", frame->offset);
}

/* Returns a frame as a line of a stack shows it. */
static const char *words_of(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    const char *function = name_of(scratch, frame);
    if (frame->is_python && frame->line <= 0)
        return sc_scratch_print(scratch, "%s %s", function, frame->file);
    if (frame->is_python)
        return sc_scratch_print(scratch, "%s %s:%" JSON_INTEGER_FORMAT, function, frame->file,
                                frame->line);
    const char *origin = origin_of(scratch, frame);
    if (!frame->file)
        return sc_scratch_print(scratch, "%s %s", function, origin);
    return sc_scratch_print(scratch, "%s %s at %s:%" JSON_INTEGER_FORMAT, function, origin,
                            frame->file, frame->line);
}

/* Returns the whole path of the frame's source file: compilers note the folder apart from a
 * relative name. */
const char *sc_frames_shown_path(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    if (!frame->file || frame->file[0] == '/' || !frame->folder)
        return frame->file;
    return sc_scratch_print(scratch, "%s/%s", frame->folder, frame->file);
}

/* ---- one frame ---- */

struct making {
    struct sc_scratch *scratch; /* of the cache */
    const struct sc_frame_makers *makers;
    struct sc_frames_made *made;
};

/* Returns a copy that lives as long as the cache; its length is counted, since the cache is
 * emptied when it is too large. */
static const char *copy_of(const struct making *making, const char *text)
{
    making->makers->cache->text_bytes += text ? strlen(text) : 0;
    return text ? sc_scratch_print(making->scratch, "%s", text) : NULL;
}

/* Returns the path as it is on this machine (--path-map). */
static const char *on_this_machine(const struct making *making, const char *path)
{
    return copy_of(making, sc_path_map_change(&making->makers->paths, making->scratch, path));
}

/* Returns the readable name of a symbol, kept as long as the frames are. */
static const char *readable(const struct making *making, const char *symbol)
{
    if (!symbol || symbol[0] != '_')
        return copy_of(making, symbol);
    char *name = sc_demangle(symbol);
    const char *kept = copy_of(making, name ? name : symbol);
    free(name);
    return kept;
}

/* Adds a frame, with whose code it is and its words. */
static void add(struct making *making, struct sc_frame frame)
{
    struct sc_frame_rules *rules = making->makers->rules;
    const char *own = frame.is_python ? frame.file : frame.module;
    frame.kind = sc_frame_rules_of_frame(rules, frame.module, frame.file, frame.function);
    frame.is_own =
        own && sc_frame_rules_of_frame(rules, own, NULL, frame.function) == SC_FRAME_USER;
    if (frame.is_own && !frame.is_python && making->makers->namings)
        frame.naming = sc_namings_find(making->makers->namings, frame.module, frame.build_id);
    frame.words = words_of(making->scratch, &frame);
    frame.id = making->makers->cache->ids++;
    making->made->frames[making->made->count++] = frame;
}

/* Adds a Python frame, whose names stand in the report. */
static void add_python(struct making *making, const json_t *record)
{
    add(making, (struct sc_frame){
                    .function = copy_of(making, sc_field_string(record, "function", NULL)),
                    .file = on_this_machine(making, sc_field_string(record, "file", NULL)),
                    .line = sc_field_number(record, "line"),
                    .is_python = true,
                });
}

/* Adds a frame for one of the functions that an address belongs to: inlined ones have frames of
 * their own. */
static void add_place(struct making *making, struct sc_frame frame,
                      const struct sc_source_place *place)
{
    frame.file = place->line > 0 ? on_this_machine(making, place->file) : NULL;
    frame.folder = on_this_machine(making, place->folder);
    frame.line = frame.file ? place->line : 0;
    frame.is_inlined = place->function != NULL;
    if (place->function)
        frame.function = readable(making, place->function);
    add(making, frame);
}

/* Returns the frame's place as a member of its record, for output as JSON. */
static json_t *place_of(const struct making *making, const struct sc_frame *frame)
{
    json_t *place = json_object();
    const char *path = sc_frames_shown_path(making->scratch, frame), *function = frame->function;
    json_object_set_new(place, "function", function ? json_string_nocheck(function) : json_null());
    json_object_set_new(place, "file", json_string_nocheck(path));
    json_object_set_new(place, "line", json_integer(frame->line));
    return place;
}

/* Makes the record of a frame with all that was found, for formats that show records. Only a
 * Python frame has `file` in the report itself. */
static void name_record(const struct making *making, json_t *record)
{
    struct sc_frames_made *made = making->made;
    struct sc_frame *frame = &made->frames[made->count - 1];
    json_t *places = json_array();
    for (size_t i = 0; i < made->count; i++)
        if (made->frames[i].file)
            json_array_append_new(places, place_of(making, &made->frames[i]));
    bool has_places = json_array_size(places) > 0;
    if (frame->function || has_places)
        made->named = json_copy(record);
    if (frame->function)
        json_object_set_new(made->named, "symbol", json_string_nocheck(frame->function));
    if (has_places)
        json_object_set(made->named, "places", places);
    json_decref(places);
    frame->named = made->named;
}

/* Returns the best name for the function: from the file that ran, else from the report, else from a
 * file that may be of another build. */
static const char *choose_name(struct sc_frame *frame, const char *of_file, const char *of_report)
{
    bool is_proven = frame->build_id && frame->build_id[0] != '\0';
    frame->is_guessed = of_file && !is_proven && !of_report;
    return of_file && (is_proven || !of_report) ? of_file : of_report;
}

/* Finds the names and lines of a native frame, by its module and offset, and adds its frames. */
static void add_native(struct making *making, json_t *record)
{
    struct sc_frame frame = {
        .module = copy_of(making, sc_field_string(record, "module", NULL)),
        .offset = copy_of(making, sc_field_string(record, "offset", "?")),
    };
    uint64_t offset = strtoull(frame.offset, NULL, 16);
    if (frame.module)
        frame.build_id = sc_builds_find(making->makers->builds, frame.module);
    const struct sc_symbol_answer *found = sc_symbols_find(
        making->makers->symbols, frame.module, frame.build_id, offset, making->makers->with_lines);
    const char *of_report = sc_field_string(record, "symbol", NULL);
    frame.symbol = copy_of(making, choose_name(&frame, found->name, of_report));
    frame.function = readable(making, frame.symbol);
    for (size_t i = 0; i < found->place_count; i++)
        add_place(making, frame, &found->places[i]);
    if (found->place_count == 0)
        add(making, frame);
    name_record(making, record);
}

/* Records that the address is likely to be looked up, in the builds of the module that the last
 * runs had, so that one question can cover many. */
static void announce(struct sc_symbols *symbols, const struct sc_builds_list *list,
                     const char *module, uint64_t offset)
{
    const char *before = NULL;
    const struct sc_builds *builds = list->first;
    for (size_t i = 0; builds && i < ANNOUNCED_MAX; builds = builds->next, i++) {
        const char *build_id = sc_builds_find(builds, module);
        if (i == 0 || (build_id && !(before && strcmp(before, build_id) == 0)))
            sc_symbols_announce(symbols, module, build_id, offset);
        before = build_id;
    }
}

/* Records all frames that are kept once for many lines as likely to be looked up, so that one
 * question can cover many. */
void sc_frames_shown_announce(const struct sc_frame_makers *makers, const struct sc_pieces *pieces,
                              const struct sc_builds_list *list)
{
    for (const struct sc_piece *piece = pieces->first; piece; piece = piece->next) {
        const char *module = sc_field_string(piece->value, "module", NULL);
        const char *offset = sc_field_string(piece->value, "offset", NULL);
        if (module && offset)
            announce(makers->symbols, list, module, strtoull(offset, NULL, 16));
    }
}

/* ---- frames made before ---- */

/* Frees all frames that were made. */
void sc_frames_shown_free(struct sc_frame_cache *cache)
{
    for (const struct sc_frames_made *made = cache->first; made; made = made->next) {
        json_decref(made->record);
        json_decref(made->named);
    }
    cache->first = NULL;
    cache->text_bytes = 0;
    sc_table_free(&cache->table);
    sc_scratch_free(&cache->scratch);
}

/* Empties the cache of frames if it is large. Nothing that it made may be shown afterwards. */
void sc_frames_shown_trim(struct sc_frame_cache *cache)
{
    if (cache->table.count > CACHED_MAX || cache->text_bytes > TEXT_MAX_BYTES)
        sc_frames_shown_free(cache);
}

/* Makes the key of a record from its address. Buckets are chosen by low bits, in which addresses
 * are alike, so the bits are mixed. */
static struct sc_digest digest_of(const json_t *record, const struct sc_builds *builds)
{
    uint64_t number = sc_builds_number(builds);
    uint64_t product = ((uintptr_t)record + (number << 48)) * UINT64_C(0x9e3779b97f4a7c15);
    return (struct sc_digest){{product >> 32 | product << 32, number}};
}

/* Returns the frames that a record of the report stands for: kept, or found now. */
static const struct sc_frames_made *make(const struct sc_frame_makers *makers, json_t *record)
{
    struct sc_scratch *scratch = &makers->cache->scratch;
    struct sc_digest digest = digest_of(record, makers->builds);
    struct sc_node *known = sc_table_find(&makers->cache->table, &digest);
    if (known)
        return (const struct sc_frames_made *)(const void *)known;
    struct sc_frames_made made = {
        .node.digest = digest, .record = json_incref(record), .next = makers->cache->first};
    struct making making = {scratch, makers, &made};
    if (sc_field_string(record, "file", NULL))
        add_python(&making, record);
    else
        add_native(&making, record);
    size_t size = offsetof(struct sc_frames_made, frames) + made.count * sizeof made.frames[0];
    struct sc_frames_made *kept = memcpy(sc_scratch_take(scratch, size), &made, size);
    sc_table_add(&makers->cache->table, &kept->node);
    makers->cache->first = kept;
    return kept;
}

/* ---- stacks ---- */

/* Finds the frames that a reader looks for first: the user's innermost, and the library's before
 * it. */
static void point_out(struct sc_frames *frames)
{
    for (size_t i = 0; i < frames->count && !frames->user; i++) {
        const struct sc_frame *frame = &frames->frames[i];
        if (frame->kind == SC_FRAME_USER)
            frames->user = frame;
        else if (frame->kind == SC_FRAME_LIBRARY && !frames->library)
            frames->library = frame;
    }
}

/* Removes inlined functions that stand innermost, for a stack whose innermost frame is no call. */
void sc_frames_shown_drop_inlined(struct sc_frames *frames)
{
    while (frames->count > 1 && frames->frames[0].is_inlined) {
        frames->frames++;
        frames->count--;
    }
    frames->user = frames->library = NULL;
    point_out(frames);
}

/* Makes the `size` innermost frames of a stack. Returns how many frames these become, as inlined
 * functions add some. */
static size_t make_all(const struct sc_frame_makers *makers, const json_t *stack,
                       const struct sc_frames_made **made, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        made[i] = make(makers, json_array_get(stack, i));
        count += made[i]->count;
    }
    return count;
}

/* Makes the frames of a stack, ready to be shown. */
void sc_frames_shown(struct sc_frames *frames, struct sc_scratch *scratch,
                     const struct sc_frame_makers *makers, json_t *stack)
{
    size_t size = json_array_size(stack) < FRAMES_MAX ? json_array_size(stack) : FRAMES_MAX;
    const struct sc_frames_made **made = sc_scratch_take(scratch, size * sizeof *made);
    size_t count = make_all(makers, stack, made, size);
    *frames = (struct sc_frames){
        .records = stack, .frames = sc_scratch_take(scratch, count * sizeof *frames->frames)};
    for (size_t i = 0; i < size; i++) {
        for (size_t at = 0; at < made[i]->count && frames->count < FRAMES_MAX; at++) {
            struct sc_frame *frame = &frames->frames[frames->count++];
            *frame = made[i]->frames[at];
            frame->index = i;
        }
    }
    point_out(frames);
}
