#include "report/command/memory_history.h"

#include "report/command/fields.h"
#include "report/command/model.h"

#include <stdlib.h>

/* Finds the lines about memory that are compared: the first, a middle and the last one, or the two
 * that the user names. Returns false if there are not two. */
bool sc_memory_history_lines(struct sc_model *model, const struct sc_run *run,
                             struct sc_memory moments[SC_MEMORY_LINES_SHOWN])
{
    const json_t *lines = json_object_get(run->record, "memory_lines");
    const json_t *last = json_object_get(json_object_get(run->record, "memory"), "memory");
    const json_t *members[SC_MEMORY_LINES_SHOWN] = {
        json_array_get(lines, 0), json_array_get(lines, json_array_size(lines) / 2), last};
    const struct sc_memory_between *between = &model->reader->between;
    if (sc_memory_between_is_given(between)) {
        members[SC_MEMORY_FIRST_LINE] = members[SC_MEMORY_MIDDLE_LINE] =
            json_object_get(run->record, "memory_from");
        if (between->to.value > 0)
            members[SC_MEMORY_LAST_LINE] = json_object_get(run->record, "memory_to");
    }
    for (size_t i = 0; i < SC_MEMORY_LINES_SHOWN; i++)
        moments[i] = sc_shown_memory_make(&model->scratch, &model->makers, members[i]);
    return members[SC_MEMORY_FIRST_LINE] &&
           moments[SC_MEMORY_FIRST_LINE].time_ns < moments[SC_MEMORY_LAST_LINE].time_ns;
}

/* Returns the place in a line about memory, or NULL if it is not there. */
static const json_t *record_of_place(const json_t *point, json_int_t device)
{
    size_t index;
    json_t *record;
    if (device == SC_MEMORY_HOST)
        return json_object_get(point, "host");
    json_array_foreach(json_object_get(point, "devices"), index, record)
    {
        if (sc_field_number(record, "device") == device)
            return record;
    }
    return NULL;
}

/* Returns how much the place held at one time. */
static struct sc_memory_moment moment_of(const json_t *record, json_int_t time_ns)
{
    struct sc_memory_moment moment = {.time_ns = time_ns,
                                      .bytes = sc_shown_memory_bytes(record, "bytes")};
    moment.knows_used = json_is_integer(json_object_get(record, "free_bytes"));
    const json_t *unaccounted = json_object_get(record, "unaccounted");
    moment.knows_unaccounted = json_is_object(unaccounted);
    moment.unaccounted_bytes = sc_shown_memory_bytes(unaccounted, "bytes");
    if (moment.knows_used)
        moment.used_bytes = sc_shown_memory_less(sc_shown_memory_bytes(record, "total_bytes"),
                                                 sc_shown_memory_bytes(record, "free_bytes"));
    return moment;
}

static int by_time(const void *a, const void *b)
{
    const struct sc_memory_moment *left = a, *right = b;
    return left->time_ns < right->time_ns ? -1 : left->time_ns > right->time_ns;
}

/* Returns all moments that are known of the place, by time. */
struct sc_memory_moment *sc_memory_history_of(struct sc_scratch *scratch, const struct sc_run *run,
                                              const struct sc_memory *memory,
                                              const struct sc_memory_place *place, size_t *count)
{
    const json_t *points = json_object_get(run->record, "memory_points");
    struct sc_memory_moment *moments =
        sc_scratch_take(scratch, (json_array_size(points) + 2) * sizeof *moments);
    size_t index;
    json_t *point;
    *count = 0;
    json_array_foreach(points, index, point)
    {
        json_int_t time_ns = sc_field_number(point, "time_ns");
        if (time_ns > 0)
            moments[(*count)++] = moment_of(record_of_place(point, place->device), time_ns);
    }
    if (memory->time_ns > 0)
        moments[(*count)++] = moment_of(place->record, memory->time_ns);
    if (place->peak_ns > 0)
        moments[(*count)++] =
            (struct sc_memory_moment){.time_ns = place->peak_ns, .bytes = place->peak_bytes};
    qsort(moments, *count, sizeof *moments, by_time);
    return moments;
}
