#include "report/command/kept_memory.h"

#include "report/command/fields.h"
#include "report/command/memory_between.h"

enum { POINTS_MAX = 256, WHOLE_MAX = 8, DEVICES_MAX = 256 };

/* ---- points ---- */

/* Returns what a chart shows of one place (a device or the host) at one moment. */
static json_t *point_of_place(const json_t *place)
{
    static const char *const keys[] = {"device", "uuid", "bytes", "free_bytes", "total_bytes"};
    json_t *point = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (json_object_get(place, keys[i]))
            json_object_set(point, keys[i], json_object_get(place, keys[i]));
    const json_t *unaccounted = json_object_get(place, "unaccounted");
    if (json_is_object(unaccounted))
        json_object_set_new(point, "unaccounted",
                            json_pack("{s:O?}", "bytes", json_object_get(unaccounted, "bytes")));
    return point;
}

/* Returns what a chart needs of a line about memory: little enough to keep for each line. */
static json_t *point_of(const json_t *memory)
{
    size_t index;
    json_t *device, *devices = json_array(), *point = json_object();
    json_array_foreach(json_object_get(memory, "devices"), index, device)
    {
        if (index < DEVICES_MAX)
            json_array_append_new(devices, point_of_place(device));
    }
    json_object_set(point, "time_ns", json_object_get(memory, "time_ns"));
    json_object_set_new(point, "devices", devices);
    json_object_set_new(point, "host", point_of_place(json_object_get(memory, "host")));
    return point;
}

/* ---- how many ---- */

/* Drops every second of the memory lines that are kept, so that long runs keep lines from their
 * whole time. */
static void drop_every_second(json_t *kept)
{
    for (size_t i = json_array_size(kept); i-- > 0;)
        if (i % 2 == 1)
            json_array_remove(kept, i);
}

/* Keeps a value in a list of at most `max`: when that is full, every second one is left out from
 * then on. Takes over `value`. */
static void keep(struct sc_thinned *thinned, json_t *record, const char *key, json_t *value,
                 size_t max)
{
    if (!json_object_get(record, key))
        json_object_set_new(record, key, json_array());
    json_t *kept = json_object_get(record, key);
    if (thinned->seen++ % (thinned->skipped_between + 1) != 0) {
        json_decref(value);
        return;
    }
    json_array_append_new(kept, value);
    if (json_array_size(kept) <= max)
        return;
    drop_every_second(kept);
    thinned->skipped_between = 2 * thinned->skipped_between + 1;
}

/* Keeps the two lines that --between names. */
static void keep_ends(const struct sc_kept_memory *kept, const struct sc_memory_between *between,
                      json_t *record, json_t *memory)
{
    json_int_t since_ns = sc_field_number(memory, "time_ns") - kept->first_ns;
    const uint64_t ns = since_ns > 0 ? (uint64_t)since_ns : 0;
    if (!json_object_get(record, "memory_from") &&
        sc_memory_between_reaches(&between->from, kept->points.seen, ns))
        json_object_set(record, "memory_from", memory);
    if (!json_object_get(record, "memory_to") &&
        sc_memory_between_reaches(&between->to, kept->points.seen, ns))
        json_object_set(record, "memory_to", memory);
}

/* Takes a line about memory: a few numbers of each are kept for the charts, and some lines as a
 * whole. Both are thinned out when they get too many, and the last line is kept in any case. */
void sc_kept_memory_take(struct sc_kept_memory *kept, const struct sc_memory_between *between,
                         json_t *record, json_t *line)
{
    json_t *memory = json_object_get(line, "memory");
    if (kept->points.seen == 0)
        kept->first_ns = sc_field_number(memory, "time_ns");
    keep(&kept->points, record, "memory_points", point_of(memory), POINTS_MAX);
    keep(&kept->whole, record, "memory_lines", json_incref(memory), WHOLE_MAX);
    json_object_set(record, "memory", line);
    keep_ends(kept, between, record, memory);
}
