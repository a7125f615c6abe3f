/* Host functions that poll until they are let go, in one of several ways; nothing of that is a call
 * by which the library knows at once that they wait.
 */
#ifndef SC_TESTS_HAZARD_POLLS_H
#define SC_TESTS_HAZARD_POLLS_H

#include "twin.h"

#include <sched.h>

enum poll_way { SPINS, YIELDS, NAPS, READS, POLL_WAYS };

/* Twins in C++ have no _Atomic. */
struct poll {
    enum poll_way way;
    bool go;
    int ends[2]; /* of a pipe */
};

static TWIN_HELPER void set_up_poll(struct poll *poll, enum poll_way way)
{
    poll->way = way;
    poll->go = false;
    CHECK(pipe(poll->ends));
}

static TWIN_HELPER bool may_go(struct poll *poll)
{
    return __atomic_load_n(&poll->go, __ATOMIC_ACQUIRE);
}

/* In the stream; once for each let_go(). */
static TWIN_HELPER void poll_until_let_go(void *argument)
{
    struct poll *poll = (struct poll *)argument;
    char byte;
    if (poll->way == READS)
        CHECK(read(poll->ends[0], &byte, 1) - 1);
    while (poll->way != READS && !may_go(poll)) {
        if (poll->way == YIELDS)
            sched_yield();
        else if (poll->way == NAPS)
            usleep(500);
    }
    __atomic_store_n(&poll->go, false, __ATOMIC_RELEASE);
}

static TWIN_HELPER void let_go(void *argument)
{
    struct poll *poll = (struct poll *)argument;
    if (poll->way == READS)
        CHECK(write(poll->ends[1], "", 1) - 1);
    __atomic_store_n(&poll->go, true, __ATOMIC_RELEASE);
}

#endif
