#include "report/command/shown_postmortems.h"

#include "report/command/called.h"
#include "report/command/fields.h"

#include <stdbool.h>
#include <string.h>

/* How much is shown of what is in flight, of what was given back, and of what each stream did last.
 * A report has all of it. */
enum { IN_FLIGHT_MAX = 16, FREES_MAX = 16, LAST_MAX = 8, STREAMS_MAX = 8 };

#define NUMBER "%" JSON_INTEGER_FORMAT

struct making {
    struct sc_scratch *scratch;
    const struct sc_frame_makers *makers;
    const json_t *line;
    sc_shown_postmortems_add *add;
    void *context;
};

/* Returns the stack that a record refers to, or NULL if there is none. */
static json_t *stack_of(const struct making *making, const json_t *record)
{
    const json_t *place = json_object_get(record, "stack");
    json_int_t index = json_is_integer(place) ? json_integer_value(place) : -1;
    const json_t *stacks = json_object_get(making->line, "stacks");
    if (index < 0)
        return NULL;
    return json_object_get(json_array_get(stacks, (size_t)index), "stack");
}

/* Returns the call and its place in words. */
static const char *words_of_call(const struct making *making, const json_t *record)
{
    struct sc_frames frames;
    sc_frames_shown(&frames, making->scratch, making->makers, stack_of(making, record));
    return sc_called_words(making->scratch, record, &frames);
}

/* Returns in words how long before the error it was. */
static const char *age_of(struct sc_scratch *scratch, const json_t *record)
{
    double age_ns = (double)sc_field_number(record, "age_ns");
    return sc_scratch_print(scratch, "%.3f ms before", age_ns / 1e6);
}

/* Words the bytes of an operation: ", 4096 bytes from 0x1 to 0x2". */
static const char *use_of(struct sc_scratch *scratch, const json_t *record)
{
    json_int_t size = sc_field_number(record, "size");
    const char *address = sc_field_string(record, "address", NULL);
    const char *source = sc_field_string(record, "source", NULL);
    return sc_scratch_print(
        scratch, "%s%s%s%s%s",
        size > 0 ? sc_scratch_print(scratch, ", " NUMBER " byte%s", size, size == 1 ? "" : "s")
                 : "",
        source ? " from " : "", source ? source : "", address ? " to " : "",
        address ? address : "");
}

/* Words an operation: the call, what it used, and how long before the error. */
static const char *operation_of(const struct making *making, const json_t *operation)
{
    struct sc_scratch *scratch = making->scratch;
    const char *direction = sc_field_string(operation, "direction", "none");
    bool is_named = strcmp(direction, "none") != 0;
    return sc_scratch_print(scratch, "%s%s%s%s, %s", words_of_call(making, operation),
                            is_named ? ", " : "", is_named ? direction : "",
                            use_of(scratch, operation), age_of(scratch, operation));
}

/* Adds which error came first, and of which call. */
static void add_error(const struct making *making)
{
    struct sc_scratch *scratch = making->scratch;
    const json_t *error = json_object_get(making->line, "error");
    const json_t *call = json_object_get(making->line, "call");
    const char *name = sc_field_string(error, "name", "?");
    json_int_t code = sc_field_number(error, "code");
    const char *words =
        code == 0 ? sc_scratch_print(scratch, "the program aborted: %s", name)
                  : sc_scratch_print(scratch,
                                     "the context was lost: %s (" NUMBER "), first returned by %s",
                                     name, code, words_of_call(making, call));
    json_int_t hazards = sc_field_number(making->line, "hazards");
    if (hazards > 0)
        words = sc_scratch_print(scratch, "%s, after " NUMBER " hazard%s", words, hazards,
                                 hazards == 1 ? "" : "s");
    making->add(making->context, words, stack_of(making, call));
}

/* Adds a note for each operation of the stream that was in flight, up to a limit for all streams.
 * `count`: how many operations the streams before had in flight. Returns that number with those of
 * this stream. */
static size_t add_in_flight(const struct making *making, const json_t *stream, size_t count)
{
    size_t index;
    json_t *operation;
    const char *name = sc_field_string(stream, "stream", "?");
    json_array_foreach(json_object_get(stream, "operations"), index, operation)
    {
        if (!json_is_true(json_object_get(operation, "in_flight")) || count++ >= IN_FLIGHT_MAX)
            continue;
        making->add(making->context,
                    sc_scratch_print(making->scratch, "in flight on stream %s: %s", name,
                                     operation_of(making, operation)),
                    stack_of(making, operation));
    }
    return count;
}

/* Says how many of a list are not shown. */
static void add_more(const struct making *making, const char *words, size_t count, size_t shown)
{
    if (count > shown)
        making->add(making->context,
                    sc_scratch_print(making->scratch, "%s: %zu more", words, count - shown), NULL);
}

/* Adds a note for each of the last operations in flight when the context was lost. */
static void add_all_in_flight(const struct making *making)
{
    size_t index, count = 0;
    json_t *stream;
    json_array_foreach(json_object_get(making->line, "streams"), index, stream) count =
        add_in_flight(making, stream, count);
    if (count == 0)
        making->add(making->context, "in flight: nothing that the library knows of", NULL);
    add_more(making, "in flight", count, IN_FLIGHT_MAX);
}

/* Adds what was given back shortly before the error. */
static void add_frees(const struct making *making)
{
    size_t index;
    json_t *freed;
    const json_t *frees = json_object_get(making->line, "frees");
    json_array_foreach(frees, index, freed)
    {
        json_int_t size = sc_field_number(freed, "size");
        if (index >= FREES_MAX)
            break;
        const char *bytes = size > 0 ? sc_scratch_print(making->scratch, " (" NUMBER " byte%s)",
                                                        size, size == 1 ? "" : "s")
                                     : "";
        making->add(making->context,
                    sc_scratch_print(making->scratch, "given back: %s%s by %s, %s",
                                     sc_field_string(freed, "address", "?"), bytes,
                                     words_of_call(making, freed), age_of(making->scratch, freed)),
                    stack_of(making, freed));
    }
    add_more(making, "given back", json_array_size(frees), FREES_MAX);
}

/* Adds that a small device heap may have been the cause, as for a GPU kernel that does not check
 * what malloc returned. */
static void add_heap(const struct making *making)
{
    const json_t *heap = json_object_get(making->line, "heap");
    const char *kernel = sc_field_string(heap, "kernel", NULL);
    bool is_module = json_is_true(json_object_get(heap, "is_module"));
    if (!heap)
        return;
    making->add(making->context,
                sc_scratch_print(making->scratch,
                                 "a kernel that calls malloc gets NULL when the heap (" NUMBER
                                 " bytes) is used up; %s by %s%s%s",
                                 sc_field_number(heap, "limit"), is_module ? "called" : "used",
                                 kernel ? kernel : "",
                                 !kernel     ? ""
                                 : is_module ? ", loaded by "
                                             : ", launched by ",
                                 words_of_call(making, heap)),
                stack_of(making, heap));
}

/* Adds the last operations of a stream, in one note, without stacks. */
static void add_last(const struct making *making, const json_t *stream)
{
    size_t index;
    json_t *operation;
    const json_t *operations = json_object_get(stream, "operations");
    const char *words = sc_scratch_print(making->scratch, "last on stream %s",
                                         sc_field_string(stream, "stream", "?"));
    json_array_foreach(operations, index, operation)
    {
        if (index >= LAST_MAX)
            break;
        words = sc_scratch_print(making->scratch, "%s%s%s", words, index == 0 ? ": " : "; ",
                                 operation_of(making, operation));
    }
    if (json_array_size(operations) > LAST_MAX)
        words = sc_scratch_print(making->scratch, "%s; and %zu before", words,
                                 json_array_size(operations) - LAST_MAX);
    making->add(making->context, words, NULL);
}

/* Makes the notes that describe what was in flight when a context was lost. */
void sc_shown_postmortems_make(struct sc_scratch *scratch, const struct sc_frame_makers *makers,
                               const json_t *postmortem, sc_shown_postmortems_add *add,
                               void *context)
{
    const struct making making = {scratch, makers, postmortem, add, context};
    size_t index;
    json_t *stream;
    add_error(&making);
    add_all_in_flight(&making);
    add_frees(&making);
    add_heap(&making);
    json_array_foreach(json_object_get(postmortem, "streams"), index, stream)
    {
        if (index < STREAMS_MAX)
            add_last(&making, stream);
    }
}
