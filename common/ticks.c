#include "common/ticks.h"

#include "common/now.h"

#include "common/poison.h"

enum { LEARN_NS = 50 * 1000, READINGS = 8 };

struct moment {
    uint64_t ticks;
    uint64_t ns;
};

_Atomic uint64_t sc_ticks_read_lately;

static struct moment first;
static struct moment learnt; /* LEARN_NS later */

/* Reads both clocks. A thread that is preempted between the two reads them some milliseconds apart,
 * so the closest of several readings counts. */
static struct moment moment_now(void)
{
    struct moment best = {0, 0};
    uint64_t closest = UINT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        uint64_t ticks = sc_ticks();
        uint64_t ns = sc_now_ns();
        uint64_t apart = sc_ticks() - ticks;
        if (apart < closest) {
            closest = apart;
            best = (struct moment){ticks + apart / 2, ns};
        }
    }
    return best;
}

/* Measures the rate of the ticks for LEARN_NS. */
void sc_ticks_start(void)
{
    first = moment_now();
    do
        learnt = moment_now();
    while (learnt.ns - first.ns < LEARN_NS || learnt.ticks == first.ticks);
    sc_ticks_note_read(learnt.ticks);
}

uint64_t sc_ticks_in_ns(uint64_t ns)
{
    return (uint64_t)((unsigned __int128)ns * (learnt.ticks - first.ticks) /
                      (learnt.ns - first.ns));
}

/* Converts with the rate since sc_ticks_start: the longer the process runs, the more exact that is.
 */
uint64_t sc_ticks_to_ns(uint64_t ticks)
{
    struct moment now = moment_now();
    if (ticks >= now.ticks)
        return now.ns;
    return now.ns - (uint64_t)((unsigned __int128)(now.ticks - ticks) * (now.ns - first.ns) /
                               (now.ticks - first.ticks));
}
