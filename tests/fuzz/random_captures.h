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
    bool owes;    /* the legacy stream still has to wait for a detour */
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

static void need_permission(void)
{
    if (is_endangered())
        expect_call(world.thread == capture.thread ? UNPERMITTED : UNPERMITTED_ELSEWHERE, true);
}

/* ---- the legacy stream ---- */

static bool is_detoured(int slot)
{
    return slot == 0 && legacy_is_blocked();
}

/* Nobody but its thread can name a per-thread stream. Others come after it by the marks behind its
 * copies; where other work may be behind those, there is no detour. */
static void note_other_work(int slot)
{
    world.unmarked[slot] = world.slots[slot].owner != NOBODY;
}

static void note_marked(int slot)
{
    world.unmarked[slot] = false;
}

static void note_all_marked(void)
{
    memset(world.unmarked, 0, sizeof world.unmarked);
}

static bool others_are_marked(void)
{
    bool marked = true;
    for (int slot = 1; slot < OWN_STREAM; slot++)
        marked &= world.slots[slot].owner == world.thread || !world.unmarked[slot];
    return marked;
}

static bool is_in_the_way(int slot)
{
    bool detours = world.healed && !world.correct && others_are_marked();
    return captures(slot) || (is_detoured(slot) && !detours);
}

static void come_after_detours(int slot)
{
    if (is_blocking(slot))
        oracle_add_wait(&world.oracle, world.slots[slot].stream,
                        world.oracle.streams[world.detour].last);
}

/* Per-thread streams that the library knows of: it meets each when its thread first uses it. */
static bool met[STREAMS + PEER_SLOTS];

static void meet(int slot)
{
    bool first = !met[slot] && world.slots[slot].owner != NOBODY;
    met[slot] = true;
    if (first && capture.owes)
        come_after_detours(slot);
}

/* The stream that an operation on the slot is made in. */
static int enter(int slot)
{
    meet(slot);
    note_other_work(slot);
    if (!is_detoured(slot))
        return world.slots[slot].stream;
    expect_call(LEGACY_IN_CAPTURE, true);
    capture.owes = true;
    if (world.detour == ORACLE_NONE)
        world.detour = oracle_add_stream(&world.oracle, ORACLE_NONBLOCKING, 0);
    oracle_add_wait(&world.oracle, world.detour,
                    oracle_add_node(&world.oracle, world.slots[0].stream));
    return world.detour;
}

/* Streams that come to be later do so, too (make_stream, meet). */
static void leave(int slot)
{
    if (!is_detoured(slot))
        return;
    int last = world.oracle.streams[world.detour].last;
    oracle_add_wait(&world.oracle, world.slots[0].stream, last);
    for (int i = 1; i < world.slot_count; i++)
        if (world.slots[i].owner == NOBODY || met[i])
            come_after_detours(i);
}

#endif
