/* What an open capture changes for everybody else, and what should be said of it.
 *
 * One capture is open at a time. Calls that it does not permit are hazards, and so are operations
 * on the legacy stream while a blocking stream captures. In mode=fix all of them succeed: the
 * latter run in a stream that waits for all that the legacy stream would have waited for, and that
 * everything waits for which would have waited for the legacy stream. In mode=report they break the
 * capture, and only random_graphs.h makes one, knowing that. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_CAPTURES_H
#define SC_TESTS_FUZZ_RANDOM_CAPTURES_H

static struct {
    bool open;
    int thread;
    CUstreamCaptureMode mode;
    int slots[2]; /* that capture; the second joins later, if at all (NOBODY) */
    int detoured; /* a thread that has made a detour, or NOBODY */
} capture;

static bool is_blocking(int slot)
{
    return world.oracle.streams[world.slots[slot].stream].kind == ORACLE_BLOCKING;
}

static bool captures(int slot)
{
    return capture.open && (slot == capture.slots[0] || slot == capture.slots[1]);
}

static bool legacy_is_blocked(void)
{
    bool blocked = false;
    for (int i = 0; i < 2; i++)
        blocked |= capture.open && capture.slots[i] != NOBODY && is_blocking(capture.slots[i]);
    return blocked;
}

/* ---- calls that no capture permits ---- */

/* Would one by the calling thread break the capture? */
static bool is_endangered(void)
{
    bool own = world.thread == capture.thread;
    return capture.open && (own ? capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED
                                : capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static void expect_unpermitted(bool sure)
{
    if (is_endangered())
        expect_call(world.thread == capture.thread ? UNPERMITTED : UNPERMITTED_ELSEWHERE, sure);
}

static void need_permission(void)
{
    expect_unpermitted(true);
}

/* ---- the legacy stream ---- */

static bool is_detoured(int slot)
{
    return slot == 0 && legacy_is_blocked();
}

/* KNOWN: detours leave out the per-thread streams of other threads, which nobody else can name. */
static bool others_are_idle(void)
{
    bool idle = true;
    for (int slot = 1; slot < OWN_STREAM; slot++)
        idle &= world.slots[slot].owner == world.thread ||
                is_known_done(world.oracle.streams[world.slots[slot].stream].last);
    return idle;
}

static bool is_in_the_way(int slot)
{
    bool others = slot > 0 && slot < OWN_STREAM && capture.open && capture.detoured != NOBODY &&
                  world.slots[slot].owner != capture.detoured;
    bool detours = world.healed && !world.correct && others_are_idle();
    return captures(slot) || others || (is_detoured(slot) && !detours);
}

/* The stream that an operation on the slot is made in. */
static int enter(int slot)
{
    if (!is_detoured(slot))
        return world.slots[slot].stream;
    expect_call(LEGACY_IN_CAPTURE, true);
    capture.detoured = world.thread;
    if (world.detour == ORACLE_NONE)
        world.detour = oracle_add_stream(&world.oracle, ORACLE_NONBLOCKING, 0);
    oracle_add_wait(&world.oracle, world.detour,
                    oracle_add_node(&world.oracle, world.slots[0].stream));
    return world.detour;
}

static void leave(int slot)
{
    if (!is_detoured(slot))
        return;
    int last = world.oracle.streams[world.detour].last;
    oracle_add_wait(&world.oracle, world.slots[0].stream, last);
    for (int i = 1; i < world.slot_count; i++)
        if (is_blocking(i) &&
            (world.slots[i].owner == NOBODY || world.slots[i].owner == world.thread))
            oracle_add_wait(&world.oracle, world.slots[i].stream, last);
}

#endif
