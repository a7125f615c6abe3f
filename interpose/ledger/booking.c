#include "interpose/ledger/booking.h"

#include <stdatomic.h>
#include <stddef.h>

#include "common/now.h"
#include "interpose/base/compiler.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/made_here.h"
#include "interpose/driver/replaying.h"
#include "interpose/ledger/balance.h"
#include "interpose/streams/contexts.h"
#include "ledger/ledger.h"
#include "ledger/ledger_words.h"

#include "common/poison.h"

/* Mappings begin at multiples of it. */
enum { GRANULE_BYTES = 2 << 20 };

_Atomic unsigned sc_booking_current_pools[SC_LEDGER_DEVICES];

/* Where memory lies: on the device of the call or of the current context, as the call says
 * (SC_MEMORY_AT), where its pool or what it is a part of does, on the host. */
enum lies { ON_DEVICE, AS_SAID, IN_POOL, IN_MEMORY, IN_EXTERNAL, ON_HOST };

/* Where each kind is known, and as what. */
static const struct row {
    enum sc_ledger_space space;
    enum sc_ledger_kind kind;
    bool goes_with_context;
    enum lies lies;
} rows[] = {
    [SC_MEMORY_DEVICE] = {SC_LEDGER_ADDRESS, SC_LEDGER_DEVICE, true, ON_DEVICE},
    [SC_MEMORY_POOLED] = {SC_LEDGER_ADDRESS, SC_LEDGER_POOLED, false, IN_POOL},
    [SC_MEMORY_BUFFER] = {SC_LEDGER_ADDRESS, SC_LEDGER_MAPPED, true, IN_EXTERNAL},
    [SC_MEMORY_MAPPING] = {SC_LEDGER_MAPPING, SC_LEDGER_MAPPED, false, IN_MEMORY},
    [SC_MEMORY_IMPORTED] = {SC_LEDGER_ADDRESS, SC_LEDGER_IMPORTED, true, ON_DEVICE},
    [SC_MEMORY_MANAGED] = {SC_LEDGER_ADDRESS, SC_LEDGER_MANAGED, true, ON_DEVICE},
    [SC_MEMORY_PINNED] = {SC_LEDGER_ADDRESS, SC_LEDGER_PINNED, true, ON_HOST},
    [SC_MEMORY_REGISTERED] = {SC_LEDGER_ADDRESS, SC_LEDGER_REGISTERED, true, ON_HOST},
    [SC_MEMORY_ARRAY] = {SC_LEDGER_HANDLE, SC_LEDGER_ARRAY, true, ON_DEVICE},
    [SC_MEMORY_PHYSICAL] = {SC_LEDGER_MEMORY, SC_LEDGER_PHYSICAL, false, AS_SAID},
    [SC_MEMORY_REFERENCE] = {SC_LEDGER_MEMORY, SC_LEDGER_PHYSICAL, false, ON_DEVICE},
    [SC_MEMORY_PHYSICAL_IMPORTED] = {SC_LEDGER_MEMORY, SC_LEDGER_IMPORTED, false, ON_DEVICE},
    [SC_MEMORY_ADDRESSES] = {SC_LEDGER_RESERVATION, SC_LEDGER_ADDRESSES, false, ON_HOST},
    [SC_MEMORY_EXTERNAL] = {SC_LEDGER_EXTERNAL, SC_LEDGER_IMPORTED, true, ON_DEVICE},
    [SC_MEMORY_EXEC] = {SC_LEDGER_HANDLE, SC_LEDGER_EXECS, false, ON_DEVICE},
    [SC_MEMORY_CONTEXT] = {SC_LEDGER_HANDLE, SC_LEDGER_CONTEXTS, false, ON_DEVICE},
};

/* Returns the number under which the ledger has the device; -1 is the host. Devices beyond the last
 * number share that one. */
unsigned sc_booking_place_of_device(int device)
{
    if (sc_likely((unsigned)device < SC_LEDGER_DEVICES))
        return (unsigned)device;
    return device < 0 ? SC_LEDGER_HOST : SC_LEDGER_DEVICES - 1;
}

/* Returns the place (a device, or the host) of a location that SC_MEMORY_AT has packed into a word.
 */
static unsigned place_at(uintptr_t at)
{
    bool is_device = at >> 32 == CU_MEM_LOCATION_TYPE_DEVICE;
    return sc_booking_place_of_device(is_device ? (int)(uint32_t)at : -1);
}

/* ---- pools ---- */

_Atomic unsigned sc_booking_pools_changes;
__thread unsigned sc_booking_pools_seen;

_Atomic uint64_t sc_booking_shared;
_Atomic bool sc_booking_has_host_pools;

/* Forgets which pool is the current one of each device, since the program may have set or destroyed
 * one. The count of changes shows that to threads that have just asked the driver. */
void sc_booking_pools_changed(void)
{
    atomic_fetch_add(&sc_booking_pools_changes, 1);
    for (unsigned i = 0; i < SC_LEDGER_DEVICES; i++)
        atomic_store_explicit(&sc_booking_current_pools[i], 0, memory_order_relaxed);
}

/* Asks the driver for the current pool of a device, enters it, and returns its number; 0: not
 * known. If the program may have changed it while the driver was asked, it is not kept, and asked
 * for again the next time. */
static __attribute__((noinline)) unsigned ask_pool(unsigned place)
{
    const unsigned changes = atomic_load(&sc_booking_pools_changes);
    CUmemoryPool pool = NULL;
    if (!sc_real.cuDeviceGetMemPool ||
        sc_real.cuDeviceGetMemPool(&pool, (CUdevice)place) != CUDA_SUCCESS)
        return 0;
    unsigned number = sc_ledger_pool_met(&sc_ledger, (uintptr_t)pool, &place, 0, false);
    atomic_store(&sc_booking_current_pools[place], number);
    if (atomic_load(&sc_booking_pools_changes) != changes)
        atomic_store(&sc_booking_current_pools[place], 0);
    return number;
}

/* Returns the number of the pool from which the device's next allocation comes; 0 if it is not
 * known. The host has no current pool. */
static inline unsigned current_pool(unsigned place)
{
    if (sc_unlikely(place == SC_LEDGER_HOST))
        return 0;
    unsigned pool = atomic_load_explicit(&sc_booking_current_pools[place], memory_order_relaxed);
    return sc_likely(pool != 0) ? pool : ask_pool(place);
}

/* Returns on which device the pool's memory lies: that of the device whose default pool it is, for
 * a pool that the program did not make. Otherwise `place`, that of the call's stream. */
static unsigned place_of_pool(uint64_t handle, unsigned place)
{
    CUmemoryPool pool = NULL;
    for (unsigned i = 0; sc_real.cuDeviceGetDefaultMemPool && i < SC_LEDGER_DEVICES; i++) {
        if (sc_real.cuDeviceGetDefaultMemPool(&pool, (CUdevice)i) != CUDA_SUCCESS)
            break;
        if ((uintptr_t)pool == handle)
            return i;
    }
    return place;
}

/* Returns the number of the pool that a call names; *place becomes its place. A pool that is not
 * known is a device's own, or older than the library, and is entered. Or another thread has
 * destroyed it since the call began, as the count of changes shows: then it is taken out again.
 * That thread looks for what was entered here after it has counted. */
static unsigned named_pool(uint64_t handle, unsigned *place)
{
    unsigned number = sc_ledger_pool_number(&sc_ledger, handle, place);
    if (sc_likely(number != 0))
        return number;
    *place = place_of_pool(handle, *place);
    number = sc_ledger_pool_met(&sc_ledger, handle, place, 0, false);
    if (atomic_load(&sc_booking_pools_changes) == sc_booking_pools_seen)
        return number;
    sc_ledger_pool_gone(&sc_ledger, handle);
    return 0;
}

/* Enters a new pool, or one that another process has shared; that one counts for the current
 * device. */
static void book_pool(const struct sc_call *call, const struct sc_memory *memory)
{
    bool is_imported = memory->kind == SC_MEMORY_POOL_IMPORTED;
    const struct sc_context *context = is_imported ? sc_contexts_of_memory() : NULL;
    unsigned place = is_imported ? sc_booking_place_of_device(context ? context->device : 0)
                                 : place_at(memory->of);
    sc_ledger_pool_met(&sc_ledger, memory->name, &place, sc_made_here(call), is_imported);
}

/* Is it a pool, without the memory in it? */
static bool is_pool(const struct sc_memory *memory)
{
    return memory->kind == SC_MEMORY_POOL || memory->kind == SC_MEMORY_POOL_IMPORTED;
}

/* ---- given ---- */

/* Returns how large the new memory is. If another process has shared it, the call does not say: the
 * driver is asked. */
static size_t size_of(const struct sc_memory *memory)
{
    CUdeviceptr base = 0;
    size_t bytes = 0;
    if (memory->kind != SC_MEMORY_IMPORTED || !sc_real.cuMemGetAddressRange_v2)
        return memory->size_bytes;
    return sc_real.cuMemGetAddressRange_v2(&base, &bytes, memory->name) == CUDA_SUCCESS ? bytes : 0;
}

/* Returns the context that the memory ends with. NULL if the call says which device it is on: such
 * memory (of a pool) outlives its context. */
static const struct sc_context *context_of(const struct sc_memory *memory)
{
    return memory->device ? NULL : sc_contexts_of_memory();
}

/* Finds where the new memory lies (a device, or the host): as the call says, where its pool lies,
 * where the memory lies that it is a part of, or else on the device of the current context. */
static unsigned find_place(const struct sc_memory *memory, const struct sc_context *context)
{
    const enum lies lies = rows[memory->kind].lies;
    int device = memory->device > 0 ? memory->device - 1 : context ? context->device : 0;
    unsigned place = sc_booking_place_of_device(device);
    if (lies == AS_SAID)
        return place_at(memory->of);
    if (lies == IN_POOL && memory->of)
        named_pool(memory->of, &place);
    if (lies != IN_MEMORY && lies != IN_EXTERNAL)
        return lies == ON_HOST ? SC_LEDGER_HOST : place;
    enum sc_ledger_space space = lies == IN_MEMORY ? SC_LEDGER_MEMORY : SC_LEDGER_EXTERNAL;
    int of_whole = sc_ledger_place_of(&sc_ledger, space, memory->of);
    return of_whole < 0 ? place : (unsigned)of_whole;
}

/* Returns where memory lies, or would lie, as a call describes it: a device, or the host. */
unsigned sc_booking_place(const struct sc_memory *memory)
{
    return find_place(memory, context_of(memory));
}

/* Returns the number of the pool that an allocation comes from: the one that the call names, or
 * else the current one of its device. */
static unsigned pool_of(const struct sc_memory *memory, unsigned place)
{
    return memory->of ? named_pool(memory->of, &place) : current_pool(place);
}

/* Enters a new block into the ledger (the record of who has which memory), with the stack of the
 * call. Some kinds end with their context: if that has ended meanwhile, the block is taken out
 * again, as nobody else would. A new context is an entry, too, and shows that the program works on
 * its device. */
static void book_block(const struct sc_call *call, const struct sc_memory *memory)
{
    const struct row *row = &rows[memory->kind];
    const struct sc_context *context = context_of(memory);
    unsigned place = find_place(memory, context);
    const struct sc_ledger_block block = {
        .space = row->space,
        .kind = row->kind,
        .name = memory->name,
        .size_bytes = size_of(memory),
        .of = memory->kind == SC_MEMORY_POOLED ? pool_of(memory, place) : memory->of,
        .context = row->goes_with_context && context ? context->legacy : 0,
        .origin = sc_made_here(call),
        .place = place,
    };
    sc_ledger_given(&sc_ledger, &block);
    if (block.context && sc_unlikely(atomic_load(&context->gone)))
        sc_ledger_end_context(&sc_ledger, block.context);
    if (memory->kind == SC_MEMORY_CONTEXT)
        sc_contexts_made_on((CUdevice)place);
}

/* Is it an array (cuArray) in memory that another allocation has given? That memory is counted
 * already, so the array is not. */
static bool is_others_part(const struct sc_memory *memory)
{
    return memory->kind == SC_MEMORY_ARRAY && memory->of;
}

/* Enters memory that the driver has given the program, by its kind. A further reference to physical
 * memory is only counted. An allocation that was captured has given no memory yet. */
void sc_booking_given(const struct sc_call *call, const struct sc_memory *memory)
{
    SC_KEEP_ERRNO();
    if (is_pool(memory))
        book_pool(call, memory);
    else if (memory->kind == SC_MEMORY_REFERENCE)
        sc_ledger_add_reference(&sc_ledger, memory->name);
    else if (memory->name && memory->device != SC_MEMORY_CAPTURED && !is_others_part(memory))
        book_block(call, memory);
}

/* Enters memory of cuMemAllocAsync if the quick way (sc_booking_given_in_order) does not know the
 * pool, or has not seen the call's stack before. */
__attribute__((noinline)) void sc_booking_note_given_in_order(const char *api, void *site,
                                                              uintptr_t address, size_t size_bytes,
                                                              int device, uintptr_t pool,
                                                              uintptr_t depth)
{
    if (!sc_booking_is_on())
        return;
    unsigned place = sc_booking_place_of_device(device);
    unsigned number = pool ? named_pool(pool, &place) : current_pool(place);
    sc_ledger_given_of_pool(&sc_ledger, address, size_bytes, number, place,
                            sc_made_here_at(api, site, depth));
}

/* Notes that the program has made the memory accessible to other processes, which may use it in
 * ways that are not seen here. */
void sc_booking_exported(const struct sc_call *call, const struct sc_memory *memory)
{
    SC_KEEP_ERRNO();
    if (is_pool(memory))
        sc_ledger_pool_exported(&sc_ledger, memory->name, sc_now_ns());
    else
        sc_ledger_exported(&sc_ledger, rows[memory->kind].space, memory->name, sc_now_ns(),
                           sc_made_here(call));
}

/* ---- taken back ---- */

/* What the calling thread's call takes back, and by which name it was looked for. */
static __thread struct sc_ledger_leaving own_leaving;
static __thread uintptr_t looked_for;

/* Takes the block out of the ledger before the driver frees it: afterwards another thread may get
 * the same address. If a replay (of a call that passed the wrappers by) comes before and after the
 * call, only the first looks for the block. A mapping is looked for after the call, and a pool only
 * made unaskable. */
void sc_booking_leaves(const struct sc_memory *memory)
{
    bool was_looked_for = sc_replaying_follows() && looked_for == memory->name;
    looked_for = memory->name;
    if (is_pool(memory))
        sc_balance_pool_leaves();
    else if (memory->kind != SC_MEMORY_MAPPING && !was_looked_for)
        sc_ledger_leaves(&sc_ledger, rows[memory->kind].space, memory->name, &own_leaving);
}

/* Takes mappings out of the ledger when the driver has unmapped them (`taken`). The driver unmaps
 * whole mappings only, of which the range may contain several; one that is unknown is stepped over
 * by the smallest size. No other thread gets addresses that are mapped, so this need not be done
 * before the call. */
static void remove_mapping(const struct sc_memory *memory, bool taken)
{
    const uint64_t end = taken ? memory->name + memory->size_bytes : 0;
    for (uint64_t at = memory->name; at < end;) {
        struct sc_ledger_leaving gone = {.was.name = 0};
        bool is_known = sc_ledger_leaves(&sc_ledger, SC_LEDGER_MAPPING, at, &gone);
        at += is_known ? gone.was.size_bytes : GRANULE_BYTES;
    }
}

/* Notes that the pool is destroyed; if the driver has refused (not `taken`), it stays. The device's
 * default pool becomes the current one where the pool was. */
static void note_pool_destroyed(const struct sc_memory *memory, bool taken)
{
    if (taken) {
        sc_booking_pools_changed();
        sc_ledger_pool_gone(&sc_ledger, memory->name);
    }
    sc_balance_pool_left();
}

/* Called with the driver's answer to a free, before which sc_booking_leaves has taken the block
 * out. If the driver has refused (not `taken`), the block is entered again as it was. A freed block
 * that was not known is only counted. */
void sc_booking_left(const struct sc_memory *memory, bool taken)
{
    bool is_known = own_leaving.was.name == memory->name;
    if (is_pool(memory))
        note_pool_destroyed(memory, taken);
    else if (memory->kind == SC_MEMORY_MAPPING)
        remove_mapping(memory, taken);
    else if (!taken && is_known)
        sc_ledger_refused(&sc_ledger, &own_leaving);
    else if (taken && !is_known && rows[memory->kind].space == SC_LEDGER_ADDRESS)
        sc_ledger_freed_unknown(&sc_ledger, memory->name);
    own_leaving.was.name = looked_for = 0;
}

/* Called after a free that went the quick way (cuMemFreeAsync), with the driver's answer and what
 * was taken out of the ledger before the call. An address of 0 frees nothing. */
void sc_booking_note_left_in_order(uintptr_t address, const struct sc_ledger_leaving *leaving,
                                   bool taken)
{
    if (!address || !sc_options.memory)
        return;
    own_leaving = *leaving;
    sc_booking_left(&(const struct sc_memory){SC_MEMORY_POOLED, address, 0, 0, 0}, taken);
}

static _Atomic bool process_ends;

/* Takes out all blocks that have ended with the context. If it was the device's last, what the
 * ledger still has there has outlived it, as leaks do. Not at the end of the process: there the
 * runtime ends contexts, not the program. */
void sc_booking_context_ended(const struct sc_context *context)
{
    if (!sc_options.memory)
        return;
    sc_ledger_end_context(&sc_ledger, context->legacy);
    if (!atomic_load(&process_ends) && !sc_contexts_on(context->device))
        sc_ledger_note_outlived(&sc_ledger, sc_booking_place_of_device(context->device), false);
}

/* Notes that the process ends: contexts that end from now on show nothing about the program's
 * memory. */
void sc_booking_process_ends(void)
{
    atomic_store(&process_ends, true);
}

/* Notes that the program has reset the device (cudaDeviceReset): what the ledger still has there
 * has outlived its contexts. */
void sc_booking_device_reset(int device)
{
    if (sc_booking_is_on())
        sc_ledger_note_outlived(&sc_ledger, sc_booking_place_of_device(device), true);
}
