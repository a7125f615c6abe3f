#include "interpose/ledger/balance.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "common/kernel.h"
#include "common/sort.h"
#include "interpose/base/process.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"
#include "interpose/streams/contexts.h"
#include "ledger/ledger.h"
#include "ledger/ledger_words.h"
#include "ledger/residence.h"
#include "ledger/statement.h"

#include "common/poison.h"

enum { AWAIT_MS = 100 };

/* Threads that ask the driver, and calls that destroy a pool, of which none is asked then. */
static _Atomic unsigned asking, leaving;

static struct {
    bool is_known;
    CUuuid uuid;
} devices[SC_LEDGER_DEVICES];

_Static_assert(sizeof(CUuuid) == SC_STATEMENT_UUID_BYTES, "a UUID");

/* Asks for the device's UUID. False if there is none. A MIG instance (a part of a GPU) has a UUID
 * of its own, if the driver can tell. */
static bool ask_uuid(CUuuid *uuid, CUdevice device)
{
    if (sc_real.cuDeviceGetUuid_v2)
        return sc_real.cuDeviceGetUuid_v2(uuid, device) == CUDA_SUCCESS;
    return sc_real.cuDeviceGetUuid && sc_real.cuDeviceGetUuid(uuid, device) == CUDA_SUCCESS;
}

/* Asks for the devices' UUIDs, which identify them in a report of memory. At the start, while the
 * driver surely may be called; not with memory=off. */
void sc_balance_start(void)
{
    int count = 0;
    sc_real.cuDeviceGetCount(&count);
    for (int i = 0; sc_options.memory && i < count && i < SC_LEDGER_DEVICES; i++)
        devices[i].is_known = ask_uuid(&devices[i].uuid, i);
}

/* Asks the driver for an attribute of a pool. False: the driver refuses. */
static bool ask_pool(CUmemoryPool pool, CUmemPool_attribute attribute, uint64_t *value)
{
    return sc_real.cuMemPoolGetAttribute(pool, attribute, value) == CUDA_SUCCESS;
}

/* Waits, for a limited time, until no thread asks the driver about pools and devices: what is asked
 * about must not be destroyed meanwhile. */
void sc_balance_await(void)
{
    const struct timespec pause = {0, 1000 * 1000};
    for (int i = 0; i < AWAIT_MS && atomic_load(&asking); i++)
        sc_kernel_call(SYS_nanosleep, &pause, NULL);
}

/* Called before a pool is destroyed: no thread begins to ask the driver about a pool from now on,
 * and one that is asking is waited for. */
void sc_balance_pool_leaves(void)
{
    atomic_fetch_add(&leaving, 1);
    sc_balance_await();
}

/* Called after a pool was destroyed: the driver may be asked about pools again. */
void sc_balance_pool_left(void)
{
    atomic_fetch_sub(&leaving, 1);
}

/* Asks the driver how much the pool has reserved and uses. Left out for a pool that may not be
 * asked: an imported one has no attributes, and one that the ledger no longer has is destroyed. A
 * library that is not preloaded does not see when pools are destroyed. */
static void ask_about_pool(struct sc_ledger_pool *pool)
{
    CUmemoryPool handle = (CUmemoryPool)(uintptr_t)pool->handle;
    unsigned place;
    if (sc_process_is_alone() || pool->is_imported ||
        !sc_ledger_pool_number(&sc_ledger, pool->handle, &place))
        return;
    pool->is_known =
        ask_pool(handle, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &pool->reserved_bytes) &&
        ask_pool(handle, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &pool->reserved_peak_bytes) &&
        ask_pool(handle, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &pool->used_bytes) &&
        ask_pool(handle, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &pool->threshold_bytes);
    if (pool->reserved_peak_bytes < pool->used.peak_bytes) /* the program has reset it */
        pool->reserved_peak_bytes = pool->used.peak_bytes;
}

/* Returns how large the pool is, by which pools are sorted: what it has reserved, or what is in use
 * if that is not known. */
static uint64_t most_of(const struct sc_ledger_pool *pool)
{
    return pool->reserved_bytes > pool->used.bytes ? pool->reserved_bytes : pool->used.bytes;
}

/* Asks the driver for an attribute of the memory that the device's graphs have. False: this driver
 * does not tell. */
static bool ask_graphs(CUdevice device, CUgraphMem_attribute attribute, uint64_t *value)
{
    return sc_real.cuDeviceGetGraphMemAttribute &&
           sc_real.cuDeviceGetGraphMemAttribute(device, attribute, value) == CUDA_SUCCESS;
}

/* Returns a context of the device in which the driver can be asked, or NULL: the library must not
 * make one. */
static struct sc_context *context_of(CUdevice device)
{
    struct sc_context *current = sc_contexts_current();
    return current && current->device == device ? current : sc_contexts_on(device);
}

/* Asks how much memory of the device is free, which is possible only in one of its contexts. False:
 * there is none, or a call may just be ending it (quiet), or the driver refuses. */
static bool ask_free(CUdevice device, struct sc_statement_place *place)
{
    struct sc_context *context = context_of(device);
    size_t free_bytes = 0, total_bytes = 0;
    if (!context || sc_contexts_is_quiet(context) || !sc_real.cuMemGetInfo_v2 ||
        !sc_contexts_push(context))
        return false;
    bool is_known = sc_real.cuMemGetInfo_v2(&free_bytes, &total_bytes) == CUDA_SUCCESS;
    sc_contexts_pop();
    place->free_bytes = free_bytes;
    place->total_bytes = total_bytes;
    return is_known;
}

/* Asks the driver how much of the device's memory graphs have reserved and use, and how much is
 * free. */
static void ask_about_device(CUdevice device, struct sc_statement_place *place)
{
    place->knows_graphs =
        ask_graphs(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &place->graphs_reserved_bytes) &&
        ask_graphs(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,
                   &place->graphs_reserved_peak_bytes) &&
        ask_graphs(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &place->graphs_used_bytes);
    place->is_used |= place->graphs_reserved_bytes != 0;
    place->knows_free = ask_free(device, place);
}

/* Asks the driver about all pools and devices of the statement. `asking` tells calls that destroy a
 * pool or a context to wait; once such a call is under way (`leaving`) no pool is asked about. The
 * library's calls must not break a capture. */
static void ask_driver(struct sc_statement *statement)
{
    SC_INSIDE();
    SC_RELAXED();
    atomic_fetch_add(&asking, 1);
    for (unsigned i = 0; i < statement->pool_count && !atomic_load(&leaving); i++)
        ask_about_pool(&statement->pools[i]);
    for (int i = 0; i < SC_LEDGER_DEVICES && devices[i].is_known; i++)
        ask_about_device(i, &statement->places[i]);
    atomic_fetch_sub(&asking, 1);
}

/* Fills in the statement of all memory: what the ledger (the record of who has which memory) knows,
 * the devices' names, and, with `asks`, what only the driver knows. */
void sc_balance_draw(struct sc_statement *statement, bool asks)
{
    SC_KEEP_ERRNO();
    uint64_t to_lie[SC_LEDGER_PLACES];
    sc_statement_draw(&sc_ledger, statement);
    sc_residence_advised_bytes(&sc_residence, to_lie);
    for (unsigned i = 0; i < SC_LEDGER_PLACES; i++)
        statement->places[i].to_lie_bytes = to_lie[i];
    for (unsigned i = 0; i < SC_LEDGER_DEVICES; i++) {
        statement->places[i].has_uuid = devices[i].is_known;
        memcpy(statement->places[i].uuid, &devices[i].uuid, sizeof devices[i].uuid);
    }
    if (asks)
        ask_driver(statement);
    SC_SORT(statement->pools, statement->pool_count, most_of);
}
