/* What a program learns when it waits or asks, which both kinds of random programs share.
 *
 * Who includes it has a `world` with oracle, slots and events, and know(), say() and CHECK.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_WAITS_H
#define SC_TESTS_FUZZ_RANDOM_WAITS_H

static void know_scope(int stream, enum oracle_scope scope)
{
    struct oracle_set set;
    oracle_reach_scope(&world.oracle, stream, scope, &set);
    know(&set);
}

static void know_context(void)
{
    know_scope(world.slots[0].stream, ORACLE_CONTEXT_SCOPE);
}

static void know_event(int event)
{
    struct oracle_set set = {{false}};
    oracle_reach(&world.oracle, world.events[event].node, &set);
    know(&set);
}

static void wait_for_event(int event)
{
    CHECK(cuEventSynchronize(world.events[event].handle));
    know_event(event);
}

static bool ask_event(int event)
{
    CUresult result = cuEventQuery(world.events[event].handle);
    say("query event %d: %d", event, (int)result);
    if (result == CUDA_SUCCESS)
        know_event(event);
    else if (result != CUDA_ERROR_NOT_READY)
        CHECK(result);
    return result == CUDA_SUCCESS;
}

#endif
