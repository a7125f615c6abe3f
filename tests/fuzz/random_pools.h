/* Pools of the program's own: they are made, trimmed, made the device's own, and destroyed, also
 * while memory of theirs is out, which lives until it is freed. Nothing of that is a hazard. A part
 * of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_POOLS_H
#define SC_TESTS_FUZZ_RANDOM_POOLS_H

enum { OWN_POOLS = 2 };

static CUmemoryPool own_pools[OWN_POOLS]; /* NULL: none */

static CUmemoryPool new_pool(void)
{
    const CUmemPoolProps properties = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    };
    cuuint64_t threshold_bytes = one_in(2) ? 0 : UINT64_MAX;
    CUmemoryPool pool;
    CHECK(cuMemPoolCreate(&pool, &properties));
    CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold_bytes));
    return pool;
}

/* NULL: the device's pool. */
static CUmemoryPool pick_pool(void)
{
    return world.kinds & POOLS ? own_pools[below(OWN_POOLS)] : NULL;
}

static void act_pool(void)
{
    int at = below(OWN_POOLS);
    if (!world.watches_device || capture.open)
        return;
    if (!own_pools[at]) {
        say("pool %d is made", at);
        own_pools[at] = new_pool();
    } else if (one_in(3)) {
        say("pool %d becomes the device's", at);
        CHECK(cuDeviceSetMemPool(0, own_pools[at]));
    } else if (one_in(2)) {
        say("pool %d is trimmed", at);
        CHECK(cuMemPoolTrimTo(own_pools[at], 0));
    } else {
        say("pool %d is destroyed", at);
        CHECK(cuMemPoolDestroy(own_pools[at]));
        own_pools[at] = NULL;
    }
}

/* The next program's allocations come from the device's own pool again. */
static void end_pools(void)
{
    for (int at = 0; at < OWN_POOLS; at++) {
        if (own_pools[at])
            CHECK(cuMemPoolDestroy(own_pools[at]));
        own_pools[at] = NULL;
    }
}

#endif
