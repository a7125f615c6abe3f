#define _GNU_SOURCE 1
#include "report/command/frames_shown.h"

#include "report/command/demangle.h"
#include "report/command/fields.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 4096 }; /* the library's own stacks have 64 */

/* What one frame of the report becomes: itself, or what is inlined there and itself. */
struct making {
    struct sc_scratch *scratch;
    const struct sc_frame_makers *makers;
    struct sc_frames *frames;
    size_t capacity;
};

static const char *readable(struct sc_scratch *scratch, const char *symbol)
{
    if (!symbol || symbol[0] != '_')
        return symbol;
    char *name = sc_demangle(symbol);
    const char *kept = name ? sc_scratch_print(scratch, "%s", name) : symbol;
    free(name);
    return kept;
}

static void judge(const struct making *making, struct sc_frame *frame)
{
    struct sc_frame_rules *rules = making->makers->rules;
    const char *own = frame->is_python ? frame->file : frame->module;
    frame->kind = sc_frame_rules_of_frame(rules, frame->module, frame->file, frame->function);
    frame->is_own = own && sc_frame_rules_of_path(rules, own) == SC_FRAME_USER;
}

static void add(struct making *making, struct sc_frame frame)
{
    struct sc_frames *frames = making->frames;
    if (frames->count == FRAMES_MAX)
        return;
    judge(making, &frame);
    if (frames->count == making->capacity) {
        struct sc_frame *larger =
            sc_scratch_take(making->scratch, 2 * making->capacity * sizeof *larger);
        memcpy(larger, frames->frames, frames->count * sizeof *larger);
        frames->frames = larger;
        making->capacity *= 2;
    }
    frames->frames[frames->count++] = frame;
}

static const char *on_this_machine(const struct making *making, const char *path)
{
    return sc_path_map_change(&making->makers->paths, making->scratch, path);
}

static void add_python(struct making *making, json_t *record)
{
    add(making, (struct sc_frame){
                    .record = record,
                    .function = sc_field_string(record, "function", NULL),
                    .file = on_this_machine(making, sc_field_string(record, "file", NULL)),
                    .line = sc_field_number(record, "line"),
                    .is_python = true,
                });
}

static size_t find_places(const struct making *making, const struct sc_frame *frame,
                          struct sc_source_place *places)
{
    uint64_t offset = strtoull(frame->offset, NULL, 16);
    if (!frame->module || !making->makers->with_lines)
        return 0;
    return sc_symbols_places(making->makers->symbols, frame->module, offset, places);
}

/* The best name for the function: from the file that ran, else from the report. */
static const char *find_name(const struct making *making, const struct sc_frame *frame)
{
    const char *told = sc_field_string(frame->record, "symbol", NULL);
    uint64_t offset = strtoull(frame->offset, NULL, 16);
    const char *found =
        offset > 0 ? sc_symbols_find(making->makers->symbols, frame->module, offset) : NULL;
    return readable(making->scratch, found ? found : told);
}

static void add_place(struct making *making, struct sc_frame frame,
                      const struct sc_source_place *place)
{
    frame.file = place->line > 0 ? on_this_machine(making, place->file) : NULL;
    frame.folder = on_this_machine(making, place->folder);
    frame.line = frame.file ? place->line : 0;
    frame.is_inlined = place->function != NULL;
    if (place->function)
        frame.function = readable(making->scratch, place->function);
    add(making, frame);
}

static void add_native(struct making *making, json_t *record)
{
    struct sc_source_place places[SC_SOURCE_PLACES_MAX];
    struct sc_frame frame = {
        .record = record,
        .module = sc_field_string(record, "module", NULL),
        .offset = sc_field_string(record, "offset", "?"),
    };
    frame.function = find_name(making, &frame);
    size_t count = find_places(making, &frame, places);
    for (size_t i = 0; i < count; i++)
        add_place(making, frame, &places[i]);
    if (count == 0)
        add(making, frame);
}

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

void sc_frames_shown(struct sc_frames *frames, struct sc_scratch *scratch,
                     const struct sc_frame_makers *makers, const json_t *stack)
{
    size_t index, size = json_array_size(stack);
    json_t *record;
    struct making making = {scratch, makers, frames, size > 0 && size < FRAMES_MAX ? size : 1};
    *frames = (struct sc_frames){
        .frames = sc_scratch_take(scratch, making.capacity * sizeof *frames->frames)};
    json_array_foreach(stack, index, record)
    {
        if (sc_field_string(record, "file", NULL))
            add_python(&making, record);
        else
            add_native(&making, record);
    }
    point_out(frames);
}

/* "upload (train+0x12)": the whole path of the module stands with the stack. */
static const char *place_in_module(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    const char *module = frame->module ? basename(frame->module) : "";
    const char *plus = module[0] != '\0' ? "+" : "";
    if (!frame->function)
        return sc_scratch_print(scratch, "%s%s%s", module, plus, frame->offset);
    return sc_scratch_print(scratch, "%s (%s%s%s)", frame->function, module, plus, frame->offset);
}

const char *sc_frames_shown_place(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    const char *function = frame->function ? frame->function : "?";
    if (!frame->file)
        return place_in_module(scratch, frame);
    if (frame->line <= 0)
        return sc_scratch_print(scratch, "%s in %s", frame->file, function);
    return sc_scratch_print(scratch, "%s:%" JSON_INTEGER_FORMAT " in %s", frame->file, frame->line,
                            function);
}

static const char *origin_of(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    if (frame->is_inlined)
        return "(inlined)";
    return sc_scratch_print(scratch, "(%s%s%s)", frame->module ? frame->module : "",
                            frame->module ? "+" : "", frame->offset);
}

const char *sc_frames_shown_line(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    const char *function = frame->function ? frame->function : "?";
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

const char *sc_frames_shown_path(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    if (!frame->file || frame->file[0] == '/' || !frame->folder)
        return frame->file;
    return sc_scratch_print(scratch, "%s/%s", frame->folder, frame->file);
}
