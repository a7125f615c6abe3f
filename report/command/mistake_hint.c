#define _GNU_SOURCE 1
#include "report/command/mistake_hint.h"

#include <string.h>

struct sketch {
    struct sc_mistake *mistake;
    struct sc_scratch *scratch;
    const struct sc_shown *hazard;
};

/* ---- lines ---- */

/* Adds a line to the sketch of a remedy: '+' is to be added, '-' to be removed, ' ' is there.
 * Further ones than fit are dropped. */
static void put(struct sketch *sketch, char sign, size_t number, const char *text)
{
    struct sc_mistake *mistake = sketch->mistake;
    if (mistake->hint_count < SC_MISTAKE_HINT_MAX)
        mistake->hint[mistake->hint_count++] = (struct sc_mistake_hint){sign, number, text};
}

/* Adds a line of the source as it is. */
static void put_line(struct sketch *sketch, const struct sc_mistake_side *side, size_t line)
{
    put(sketch, ' ', side->excerpt.first + line, side->excerpt.lines[line]);
}

/* Adds a new line of source to the sketch, as far in as the line `line` is. */
static void add(struct sketch *sketch, const struct sc_mistake_side *side, size_t line,
                const char *text)
{
    const char *beside = side->excerpt.lines[line];
    put(sketch, '+', 0,
        sc_scratch_print(sketch->scratch, "%.*s%s", (int)strspn(beside, " "), beside, text));
}

/* ---- statements ---- */

/* Is the line one that the next line belongs to? A line such as "for (...)", whose statement is the
 * next line. */
static bool takes_the_next_line(const char *text)
{
    static const char *const words[] = {"for", "while", "if", "else"};
    size_t indent = strspn(text, " "), length = strlen(text);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t size = strlen(words[i]);
        if (strncmp(text + indent, words[i], size) == 0 && strchr(" (", text[indent + size]))
            return text[length - 1] == ')';
    }
    return length - indent == strlen("else") && strcmp(text + indent, "else") == 0;
}

/* Returns where another statement may come before the one of a side, by index: not between a loop
 * without braces and its body. */
static size_t before_statement(const struct sc_mistake_side *side, bool is_c)
{
    size_t line = side->is_found ? side->source.line : side->line;
    while (is_c && line > 0 && takes_the_next_line(side->excerpt.lines[line - 1]))
        line--;
    return line;
}

/* ---- languages ---- */

/* Is the source of a language with these endings? */
static bool has_ending(const struct sc_mistake_side *side, const char *const *endings)
{
    const char *dot = side->excerpt.count > 0 ? strrchr(side->call->stack.user->file, '.') : NULL;
    for (; dot && *endings; endings++)
        if (strcmp(dot, *endings) == 0)
            return true;
    return false;
}

/* Is the place in C, C++ or CUDA source? */
static bool is_c(const struct sc_mistake_side *side)
{
    static const char *const endings[] = {".c",   ".h",  ".cc",  ".cpp", ".cxx", ".cu",
                                          ".cuh", ".hh", ".hpp", ".inl", NULL};
    return has_ending(side, endings);
}

static bool is_python(const struct sc_mistake_side *side)
{
    static const char *const endings[] = {".py", ".pyx", NULL};
    return has_ending(side, endings);
}

/* Does the stack go through this library? */
static bool is_in(const struct sc_frames *stack, const char *library)
{
    for (size_t i = 0; i < stack->count; i++)
        if (stack->frames[i].module && strstr(stack->frames[i].module, library))
            return true;
    return false;
}

/* Returns the Python statement by which the library that issued the copy waits for it, or NULL if
 * the library is not known here. */
static const char *wait_in_python(const struct sc_call *copy)
{
    if (is_in(&copy->stack, "/torch/"))
        return "torch.cuda.current_stream().synchronize()";
    if (is_in(&copy->stack, "/cupy"))
        return "cupy.cuda.get_current_stream().synchronize()";
    return NULL;
}

/* Did the program call the driver itself, and not the runtime? The remedy is then a function of
 * the driver, too. */
static bool calls_the_driver(const struct sc_call *call)
{
    return strncmp(call->called, "cuda", 4) != 0 && strncmp(call->called, "cu", 2) == 0;
}

/* Names the line of the call: "upload.c:62". */
static const char *place_of(const struct sketch *sketch, const struct sc_mistake_side *side)
{
    const struct sc_frame *user = side->call->stack.user;
    return sc_scratch_print(sketch->scratch, "%s:%" JSON_INTEGER_FORMAT, basename(user->file),
                            user->line);
}

/* Returns the call that waits for the copy's stream. Without the stream's name in the source all of
 * the device is waited for. */
static const char *wait_in_c(const struct sketch *sketch)
{
    const struct sc_mistake_side *copy = &sketch->mistake->copy;
    bool is_driver = calls_the_driver(copy->call);
    sketch->mistake->hint_note =
        copy->stream
            ? sc_scratch_print(sketch->scratch, "A sketch: %s is the stream of the call at %s.",
                               copy->stream, place_of(sketch, copy))
            : "A sketch: a wait for the operation's stream alone is enough.";
    if (!copy->stream)
        return is_driver ? "cuCtxSynchronize();" : "cudaDeviceSynchronize();";
    return sc_scratch_print(sketch->scratch, "%sStreamSynchronize(%s);", is_driver ? "cu" : "cuda",
                            copy->stream);
}

/* ---- kinds ---- */

/* Sketches the statement of the event, with a new line before it. */
static void put_before_event(struct sketch *sketch, const char *text)
{
    const struct sc_mistake_side *event = &sketch->mistake->event;
    size_t from = before_statement(event, is_c(event));
    add(sketch, event, from, text);
    for (size_t line = from; line <= event->line; line++)
        put_line(sketch, event, line);
}

/* Sketches a wait before the event: for the copy's stream. */
static void sketch_wait(struct sketch *sketch)
{
    const struct sc_mistake_side *event = &sketch->mistake->event;
    if (sketch->hazard->is_found_later) /* nobody knows what to wait before */
        return;
    sketch->mistake->hint_note = "A sketch, for where the copy's stream is the current one.";
    const char *text = is_c(event)        ? wait_in_c(sketch)
                       : is_python(event) ? wait_in_python(&sketch->hazard->copy)
                                          : NULL;
    if (text)
        put_before_event(sketch, text);
}

/* Does the call stand in one line alone? */
static bool is_one_line(const struct sc_mistake_side *side)
{
    const char *text = side->excerpt.lines[side->line];
    size_t length = strlen(text);
    return side->is_found && side->source.line == side->line && length > 0 &&
           text[length - 1] == ';';
}

/* Sketches an event between the two operations, if both are in one file, each in a line, with
 * streams that the source names. */
static void sketch_order(struct sketch *sketch)
{
    const struct sc_mistake_side *event = &sketch->mistake->event, *copy = &sketch->mistake->copy;
    bool is_driver = copy->call && calls_the_driver(copy->call);
    if (!is_c(event) || !is_c(copy) || !event->stream || !copy->stream || !is_one_line(copy))
        return;
    if (strcmp(event->call->stack.user->file, copy->call->stack.user->file) != 0)
        return;
    const char *prefix = is_driver ? "cu" : "cuda";
    sketch->mistake->hint_note = "A sketch: done is an event that the program has made before.";
    put_line(sketch, copy, copy->line);
    add(sketch, copy, copy->line,
        sc_scratch_print(sketch->scratch, "%sEventRecord(done, %s);", prefix, copy->stream));
    put(sketch, '.', 0, "");
    put_before_event(sketch, sc_scratch_print(sketch->scratch, "%sStreamWaitEvent(%s, done, 0);",
                                              prefix, event->stream));
}

/* Sketches a change of the capture's mode to one in which calls of other threads do not break the
 * capture. */
static void sketch_thread_local(struct sketch *sketch)
{
    static const char mode[] = "CaptureModeGlobal", other[] = "CaptureModeThreadLocal";
    static const char driver_mode[] = "CAPTURE_MODE_GLOBAL",
                      driver_other[] = "CAPTURE_MODE_THREAD_LOCAL";
    const struct sc_mistake_side *copy = &sketch->mistake->copy;
    const char *text = copy->excerpt.count > 0 ? copy->excerpt.lines[copy->line] : "";
    const char *found = strstr(text, mode) ? strstr(text, mode) : strstr(text, driver_mode);
    if (!found)
        return;
    bool is_driver = strncmp(found, mode, strlen(mode)) != 0;
    size_t size = strlen(is_driver ? driver_mode : mode);
    put(sketch, '-', copy->excerpt.first + copy->line, text);
    put(sketch, '+', 0,
        sc_scratch_print(sketch->scratch, "%.*s%s%s", (int)(found - text), text,
                         is_driver ? driver_other : other, found + size));
}

/* Sketches a relaxed mode of capture around the call. */
static void sketch_relaxed(struct sketch *sketch)
{
    const struct sc_mistake_side *event = &sketch->mistake->event;
    if (!is_c(event) || !is_one_line(event) || before_statement(event, true) != event->line)
        return;
    bool is_driver = calls_the_driver(event->call);
    const char *exchange = is_driver ? "cuThreadExchangeStreamCaptureMode(&mode);"
                                     : "cudaThreadExchangeStreamCaptureMode(&mode);";
    add(sketch, event, event->line,
        is_driver ? "CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;"
                  : "enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;");
    add(sketch, event, event->line, exchange);
    put_line(sketch, event, event->line);
    add(sketch, event, event->line, exchange);
}

/* Sketches lines of source that would mend the hazard, if a way is known for its code. */
void sc_mistake_hint_make(struct sc_mistake *mistake, struct sc_scratch *scratch,
                          const struct sc_shown *hazard)
{
    static const struct {
        const char *code;
        void (*make)(struct sketch *sketch);
    } rows[] = {
        {"SC10", sketch_wait},   {"SC201", sketch_wait},    {"SC202", sketch_wait},
        {"SC203", sketch_wait},  {"SC403", sketch_wait},    {"SC204", sketch_order},
        {"SC501", sketch_order}, {"SC302", sketch_relaxed}, {"SC303", sketch_thread_local},
    };
    struct sketch sketch = {mistake, scratch, hazard};
    mistake->hint_note = "A sketch.";
    bool is_of_copy = strcmp(hazard->code, "SC303") == 0;
    const struct sc_mistake_side *side = is_of_copy ? &mistake->copy : &mistake->event;
    for (size_t i = 0; side->excerpt.count > 0 && i < sizeof rows / sizeof rows[0]; i++)
        if (strncmp(hazard->code, rows[i].code, strlen(rows[i].code)) == 0)
            rows[i].make(&sketch);
    mistake->hint_file = mistake->hint_count > 0 ? side->call->stack.user->file : NULL;
}
