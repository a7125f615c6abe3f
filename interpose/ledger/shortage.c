#include "interpose/ledger/shortage.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/library_lock.h"
#include "common/mutex.h"
#include "common/now.h"
#include "common/own_pages.h"
#include "interpose/base/process.h"
#include "interpose/base/thread_stack.h"
#include "interpose/base/unwind.h"
#include "interpose/driver/call.h"
#include "interpose/ledger/balance.h"
#include "interpose/ledger/memory_kinds.h"
#include "ledger/ledger.h"
#include "ledger/ledger_words.h"
#include "ledger/statement.h"
#include "report/file.h"
#include "report/oom_line.h"
#include "report/report.h"

#include "common/poison.h"

/* Finds the likeliest cause of a failed allocation by comparing its size with what is free, what
 * pools keep unused, and what this process has. `of_graphs`: how much of the free memory graphs
 * have given up in the failed call, too late for it. If enough was free before, some limit must be
 * the cause. What the driver takes for itself in each context counts as used by others. Without the
 * sizes only unused pools can be named. */
static enum sc_oom_verdict judge(const struct sc_oom *oom, uint64_t of_pools, uint64_t of_graphs)
{
    if (oom->total_bytes == 0 || oom->size_bytes == 0)
        return of_pools ? SC_OOM_POOL : SC_OOM_UNKNOWN;
    if (oom->size_bytes > oom->total_bytes)
        return SC_OOM_TOO_LARGE;
    if (oom->size_bytes <= oom->free_bytes)
        return oom->size_bytes > sc_statement_less(oom->free_bytes, of_graphs) ? SC_OOM_GRAPHS
                                                                               : SC_OOM_LIMIT;
    if (oom->size_bytes <= oom->free_bytes + of_pools)
        return SC_OOM_POOL;
    return oom->size_bytes <= sc_statement_less(oom->total_bytes, oom->own_bytes) ? SC_OOM_OTHERS
                                                                                  : SC_OOM_FULL;
}

/* ---- the host ---- */

/* Has the process so many registered pieces of host memory that it may be out of mappings? Linux
 * allows only so many, and a registration takes one or two. */
static bool has_many_registrations(const struct sc_statement_place *host)
{
    uint64_t most = sc_file_number("/proc/sys/vm/max_map_count", "");
    return most && host->kinds[SC_LEDGER_REGISTERED].blocks >= most / 4;
}

/* Finds why the host has no memory: what is free there, and what the process itself has. If enough
 * is free, memory that the library keeps may be the cause: `ours`, its own and what was freed in
 * flight. */
static void examine_host(const struct sc_statement *statement, struct sc_oom *oom)
{
    const struct sc_statement_place *host = &statement->places[SC_LEDGER_HOST];
    const uint64_t ours = host->kinds[SC_LEDGER_OURS].bytes + host->kinds[SC_LEDGER_HELD].bytes;
    oom->own_bytes = host->all.bytes + ours;
    oom->free_bytes = sc_file_number("/proc/meminfo", "MemAvailable:") * 1024;
    oom->total_bytes = sc_file_number("/proc/meminfo", "MemTotal:") * 1024;
    oom->verdict = has_many_registrations(host) ? SC_OOM_REGISTRATIONS : judge(oom, 0, 0);
    if (oom->verdict == SC_OOM_LIMIT && ours) {
        oom->verdict = SC_OOM_LIBRARY;
        oom->unused_bytes = ours;
    }
}

/* ---- devices ---- */

/* Adds up what the device's pools have reserved and nobody uses, which a trim would free; notes the
 * pool with most of that. */
static uint64_t examine_pools(const struct sc_statement *statement, struct sc_oom *oom)
{
    uint64_t unused_bytes = 0, most_bytes = 0;
    for (unsigned i = 0; i < statement->pool_count; i++) {
        const struct sc_ledger_pool *pool = &statement->pools[i];
        if (pool->place != oom->place || !pool->is_known)
            continue;
        uint64_t unused = sc_statement_less(pool->reserved_bytes, pool->used_bytes);
        oom->own_bytes += unused;
        unused_bytes += unused;
        if (unused > most_bytes) {
            most_bytes = unused;
            oom->pool = pool->handle;
        }
    }
    return unused_bytes;
}

/* For each device the peak of its graphs' memory up to which it is known where the memory has gone:
 * the program has trimmed it, or a failed allocation was explained by it. An allocation that finds
 * no memory makes the driver free what graphs keep unused, and fails all the same, except
 * cuMemAlloc (docs/driver.md). No call says how much that was: it is the graphs' peak minus what
 * they have. */
static _Atomic uint64_t graphs_gone[SC_LEDGER_DEVICES];

/* Notes that the program has trimmed the memory that the device's graphs keep: their peak until now
 * explains no later failure. */
void sc_shortage_graphs_trimmed(CUdevice device)
{
    cuuint64_t peak = 0;
    if (sc_booking_is_on() && (unsigned)device < SC_LEDGER_DEVICES &&
        sc_real.cuDeviceGetGraphMemAttribute &&
        sc_real.cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &peak) ==
            CUDA_SUCCESS)
        atomic_store(&graphs_gone[device], peak);
}

/* Returns how much memory the device's graphs had reserved at their peak and have no longer, unless
 * that is explained already (graphs_gone): the driver has freed it for this allocation, too late; a
 * trim would have freed it earlier. cuMemAlloc does not fail for that. */
static uint64_t given_up_by_graphs(const struct sc_oom *oom, const struct sc_memory *memory,
                                   const struct sc_statement_place *place)
{
    bool may_be = memory->kind == SC_MEMORY_POOLED || memory->kind == SC_MEMORY_PHYSICAL;
    return may_be && place->graphs_reserved_peak_bytes > atomic_load(&graphs_gone[oom->place])
               ? sc_statement_less(place->graphs_reserved_peak_bytes, place->graphs_reserved_bytes)
               : 0;
}

/* Finds why the device has no memory: what is free there, what this process has, and what its pools
 * and graphs keep unused. What graphs have given up explains one failure only. */
static void examine_device(const struct sc_statement *statement, const struct sc_memory *memory,
                           struct sc_oom *oom)
{
    const struct sc_statement_place *place = &statement->places[oom->place];
    uint64_t of_graphs = given_up_by_graphs(oom, memory, place);
    oom->own_bytes = place->all.bytes + place->graphs_reserved_bytes;
    uint64_t of_pools = examine_pools(statement, oom);
    if (place->knows_free) {
        oom->free_bytes = place->free_bytes;
        oom->total_bytes = place->total_bytes;
    }
    oom->verdict = judge(oom, of_pools, of_graphs);
    oom->unused_bytes = oom->verdict == SC_OOM_GRAPHS ? of_graphs : of_pools;
    if (oom->verdict == SC_OOM_GRAPHS)
        atomic_store(&graphs_gone[oom->place], place->graphs_reserved_peak_bytes);
}

/* ---- the line ---- */

/* Asks the driver, judges, and writes the `oom` line of a failed allocation. Without memory for the
 * statement there is no line. */
static void write_line(const struct sc_memory *memory, struct sc_oom *oom)
{
    struct sc_statement *statement = sc_pages_map(sizeof *statement);
    if (!statement)
        return;
    sc_balance_draw(statement, true);
    if (oom->place == SC_LEDGER_HOST)
        examine_host(statement, oom);
    else
        examine_device(statement, memory, oom);
    sc_report_oom(oom, statement);
    sc_pages_unmap(statement, sizeof *statement);
}

/* Reports why an allocation has failed for want of memory. Only for the first, second, fourth ...
 * failure, since programs may try again many times. Not on a thread that holds a lock of the
 * library or of a stream, which the questions may need. */
void sc_shortage_note(const struct sc_call *call, const struct sc_memory *memory)
{
    SC_KEEP_ERRNO();
    uint64_t count = sc_ledger_count(&sc_ledger, SC_LEDGER_FAILURES);
    if (count & (count - 1) || sc_library_lock_depth || sc_mutex_depth)
        return;
    sc_thread_stack_learn();
    struct sc_oom oom = {
        .api = call->api,
        .size_bytes = memory->size_bytes,
        .place = sc_booking_place(memory),
        .count = count,
        .thread = sc_thread_id(),
        .time_ns = sc_now_ns(),
        .stack = call->site ? sc_unwind_here(call->site) : 0,
    };
    write_line(memory, &oom);
}
