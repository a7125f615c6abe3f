#include "report/command/memory_between.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct unit {
    const char *name;
    uint64_t ns;
} units[] = {{"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};

enum { VALUE_MAX = 1000000 };

/* Reads the unit after a number. Returns false if there is no such unit. */
static bool take_unit(struct sc_memory_end *end, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0) {
            end->is_time = true;
            end->value *= units[i].ns;
            return true;
        }
    return length == 0;
}

/* Reads a number, and a unit of time after it if there is one. Returns what follows, or NULL if
 * there is no number. */
static const char *read_end(struct sc_memory_end *end, const char *text)
{
    char *behind;
    if (!isdigit((unsigned char)*text))
        return NULL;
    end->value = strtoull(text, &behind, 10);
    size_t length = strcspn(behind, ",");
    if (end->value == 0 || end->value > VALUE_MAX || !take_unit(end, behind, length))
        return NULL;
    return behind + length;
}

/* Reads which two lines about memory are to be compared. Returns false if the text is wrong. */
bool sc_memory_between_read(struct sc_memory_between *between, const char *text)
{
    struct sc_memory_between read = {0};
    const char *behind = read_end(&read.from, text);
    if (behind && *behind == ',')
        behind = read_end(&read.to, behind + 1);
    if (!behind || *behind)
        return false;
    if (read.to.value && read.to.is_time == read.from.is_time && read.to.value <= read.from.value)
        return false;
    *between = read;
    return true;
}

/* Does this memory line reach the end that --between names, by its number or its time? */
bool sc_memory_between_reaches(const struct sc_memory_end *end, uint64_t number, uint64_t since_ns)
{
    return end->value > 0 && (end->is_time ? since_ns : number) >= end->value;
}
