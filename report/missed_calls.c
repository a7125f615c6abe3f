#include "report/missed_calls.h"

#include <string.h>

#include "common/checks.h"

#include "common/poison.h"

static struct {
    const char *api;
    uint32_t stack;
    uint64_t count;
} calls[SC_MISSES_MAX];
static unsigned call_count;

/* Counts a driver call that the library did not see (CUPTI did), together with its equals: same
 * function, same stack. Returns how many there were so far; 0: the table is full. */
uint64_t sc_missed_calls_note(const struct sc_report_miss *miss)
{
    for (unsigned i = 0; i < call_count; i++)
        if (calls[i].stack == miss->stack && strcmp(calls[i].api, miss->api) == 0)
            return ++calls[i].count;
    SC_ASSERT(call_count <= SC_MISSES_MAX);
    if (call_count == SC_MISSES_MAX)
        return 0;
    calls[call_count].api = miss->api;
    calls[call_count].stack = miss->stack;
    calls[call_count].count = 1;
    call_count++;
    return 1;
}

/* Empties the table in a forked child: the calls were its parent's. */
void sc_missed_calls_forget(void)
{
    call_count = 0;
}
