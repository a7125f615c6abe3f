#include "common/ticks.h"

#include "common/now.h"

#include "common/poison.h"

enum { LEARN_NS = 50 * 1000, READINGS = 8 };

/* One moment by two clocks: the processor's counter and CLOCK_MONOTONIC. */
struct moment {
    uint64_t ticks;
    uint64_t ns;
};

_Atomic uint64_t sc_ticks_read_lately;

static struct moment first;
static struct moment learnt; /* LEARN_NS later */

/* Reads both clocks for the same moment. A thread that is preempted between the two readings reads
 * them some milliseconds apart, so the closest of several pairs counts. */
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

/* Measures how fast the processor's counter runs, for LEARN_NS. Later a longer time is measured
 * (sc_ticks_to_ns); for now this rate must do. */
void sc_ticks_start(void)
{
    first = moment_now();
    do
        learnt = moment_now();
    while (learnt.ns - first.ns < LEARN_NS || learnt.ticks == first.ticks);
    sc_ticks_note_read(learnt.ticks);
}

/* Returns how many ticks of the counter pass in so many nanoseconds, by the rate that was measured
 * at the start. */
uint64_t sc_ticks_in_ns(uint64_t ns)
{
    return (uint64_t)((unsigned __int128)ns * (learnt.ticks - first.ticks) /
                      (learnt.ns - first.ns));
}

/* Returns when the counter had this value, in nanoseconds of CLOCK_MONOTONIC. The rate is that
 * since sc_ticks_start: the longer the process runs, the more exact it is. A time that is yet to
 * come becomes now. */
uint64_t sc_ticks_to_ns(uint64_t ticks)
{
    struct moment now = moment_now();
    if (ticks >= now.ticks)
        return now.ns;
    return now.ns - (uint64_t)((unsigned __int128)(now.ticks - ticks) * (now.ns - first.ns) /
                               (now.ticks - first.ticks));
}
