#include "report/missed_calls.h"

#include <string.h>

#include "common/checks.h"

#include "common/poison.h"

static struct {
    const char *api;
    uint32_t stack;
    uint64_t count;
} seen[SC_MISSES_MAX];
static unsigned used;

uint64_t sc_missed_calls_note(const struct sc_report_miss *miss)
{
    for (unsigned i = 0; i < used; i++)
        if (seen[i].stack == miss->stack && strcmp(seen[i].api, miss->api) == 0)
            return ++seen[i].count;
    SC_ASSERT(used <= SC_MISSES_MAX);
    if (used == SC_MISSES_MAX)
        return 0;
    seen[used].api = miss->api;
    seen[used].stack = miss->stack;
    seen[used].count = 1;
    used++;
    return 1;
}

void sc_missed_calls_forget(void)
{
    used = 0;
}
