#include "report/command/run_record.h"

#include "report/command/say.h"

#include <stdbool.h>

enum { MISSES_MAX = 256 }; /* as many as a report tells apart */

/* Returns the record of a run, filled as its lines come. */
json_t *sc_run_record_make(const char *name)
{
    static const char form[] = "{s:s,s:n,s:n}";
    json_t *record = json_pack(form, "file", name, "run", "summary");
    if (!record) /* a name that is not UTF-8 */
        record = json_pack(form, "file", sc_say_plain(name), "run", "summary");
    return record;
}

void sc_run_record_set_unreadable(json_t *record, const char *why)
{
    json_object_set_new(record, "unreadable", json_string(why));
}

/* Notes that the file is no report at all; then its bad lines do not matter. */
void sc_run_record_refuse_file(json_t *record)
{
    sc_run_record_set_unreadable(record, "it is not a report");
    json_object_del(record, "unread");
}

static json_t *array_of(json_t *record, const char *key)
{
    if (!json_object_get(record, key))
        json_object_set_new(record, key, json_array());
    return json_object_get(record, key);
}

/* Adds a line that could not be read to the run's record. */
void sc_run_record_add_bad_line(json_t *record, size_t number, const char *problem)
{
    json_array_append_new(array_of(record, "unread"),
                          json_pack("{s:I,s:s}", "line", (json_int_t)number, "problem", problem));
}

/* Are they the same call that no wrapper saw, by function and stack? */
static bool are_equal_misses(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "api"), json_object_get(b, "api")) &&
           json_equal(json_object_get(a, "stack"), json_object_get(b, "stack"));
}

/* Adds a call that passed the library by; a later line about the same call replaces the earlier
 * one. */
void sc_run_record_take_miss(json_t *record, json_t *miss)
{
    size_t index;
    json_t *known, *misses = array_of(record, "missed");
    json_array_foreach(misses, index, known)
    {
        if (are_equal_misses(known, miss)) {
            json_array_set(misses, index, miss);
            return;
        }
    }
    if (json_array_size(misses) < MISSES_MAX)
        json_array_append(misses, miss);
}
