/*
 * Simulated address space. Device, pinned and managed memory live in three arenas, each with a
 * region for every power-of-two block size, so that any address leads to its block by arithmetic.
 * Pinned and managed memory is mapped twice: the program has one mapping and may protect it, the
 * device works through the other and never notices. Registered memory is the program's own, in a
 * tree by address, and mapped twice as well where it is shared. Everything else is pageable.
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include "sim.h"
#include "work.h"

enum sim_memory_kind {
    MEMORY_PAGEABLE,
    MEMORY_REGISTERED,
    MEMORY_PINNED,
    MEMORY_MANAGED,
    MEMORY_DEVICE,
    MEMORY_INVALID, /* a device address that nothing is allocated at */
};

struct sim_range {
    enum sim_memory_kind kind;
    uintptr_t base;
    size_t size;
    unsigned flags;
    CUdevice device;
    CUcontext context;
    CUmemoryPool pool;    /* stream-ordered allocations */
    bool of_graph;        /* a node allocates it, and has it for good */
    bool mapped;          /* it lies outside of the arenas (virtual.h) */
    bool inaccessible;    /* mapped, and not for the device */
    bool shared;          /* mapped, and cuMemFree ends that */
    uintptr_t outer_base; /* of the addresses that were reserved, where it is mapped */
    size_t outer_size;
    unsigned long long id; /* CU_POINTER_ATTRIBUTE_BUFFER_ID */
    uintptr_t alias;       /* add it to an address for the device's mapping */
};

/* ---- arena.c ---- */
int sim_memory_start(void); /* 0 or -errno */
/* An allocation of DEVICE, PINNED or MANAGED memory like `like` (flags, device, context, pool); 0
 * without memory. A block freed just before is handed out again first. */
uintptr_t sim_memory_alloc_locked(enum sim_memory_kind kind, size_t size,
                                  const struct sim_range *like);
void sim_memory_free_locked(uintptr_t base);
/* The same of device memory by a stream. A block that a stream has still to free is handed out to
 * an allocation by a stream alone, which must come after it: `after` says what, if anything, and
 * has a reference to its stream. */
uintptr_t sim_memory_alloc_in_order_locked(size_t size, const struct sim_range *like,
                                           struct sim_fence *after);
void sim_memory_free_in_order_locked(uintptr_t base, CUstream stream, uint64_t seq);
/* What is at the address; PAGEABLE and INVALID have nothing but the kind. */
void sim_memory_find_locked(uintptr_t address, struct sim_range *range);
/* Others may have the block for longer than its owner: nobody is handed it again. */
void sim_memory_export_locked(uintptr_t base);
/* The file in which a block of device memory lies, and where. */
int sim_memory_file_locked(uintptr_t base, size_t *offset);
/* Frees all memory of a context that is going away. */
void sim_memory_drop_context_locked(CUcontext context);

/* ---- budget.c: what is taken of a device's memory, or, of SIM_HOST, of what may be pinned ---- */
#define SIM_HOST (-1)
/* False: so much is not left. */
bool sim_budget_take_locked(CUdevice device, size_t bytes);
/* The same, but what graphs keep comes too late for it. */
bool sim_budget_take_apart_locked(CUdevice device, size_t bytes);
void sim_budget_give_locked(CUdevice device, size_t bytes);
size_t sim_budget_free_locked(CUdevice device);

/* What the driver takes for itself, and gives up: for a context, a module, the first launch of a
 * function. It does not count as taken, but for libnvidia-ml, which asks by the last function. */
enum { SIM_CONTEXT_BYTES = 96 << 20, SIM_MODULE_BYTES = 4 << 20, SIM_LAUNCH_BYTES = 16 << 20 };
void sim_budget_own_locked(CUdevice device, size_t bytes, bool taken_back);
__attribute__((visibility("default"))) int sim_cuda_used(int place, unsigned long long *bytes);

/* ---- pool.c: the device's default pool; NULL for a device that is not there ---- */
CUmemoryPool sim_pool_default(CUdevice device);
/* A block of the pool: the pool grows where it has no room. False: the device has none either. */
bool sim_pool_take_locked(CUmemoryPool pool, size_t bytes);
void sim_pool_give_locked(CUmemoryPool pool, size_t bytes);
/* The driver is short of the device's memory: pools of which every free has come give up what
 * nobody uses. */
void sim_pools_yield_locked(CUdevice device);
/* The host has waited: pools give up what is unused, down to their thresholds. */
void sim_pools_synchronized_locked(void);

/* ---- registry.c: registered host memory ---- */
CUresult sim_registry_add_locked(uintptr_t base, size_t size, unsigned flags, CUcontext context);
CUresult sim_registry_remove_locked(uintptr_t base);
bool sim_registry_find_locked(uintptr_t address, struct sim_range *range);
bool sim_registry_overlaps_locked(uintptr_t base, size_t size);
void sim_registry_drop_context_locked(CUcontext context);

/* ---- alias.c: whole pages of shared memory, mapped once more; 0 if they are not shared ---- */
uintptr_t sim_alias_map_locked(uintptr_t first, size_t bytes);

/* ---- pin.c: pages of registered memory, kept past a munmap ---- */
int sim_pin_take(uintptr_t base, size_t size); /* a pin, or -1: too large or too many */
void sim_pin_drop(int pin);
/* Reads unmapped registered memory; leaves `to` alone where nothing is pinned. */
void sim_pin_read(void *to, uintptr_t from, size_t bytes);

/* Where the device finds an address that the program named, and how. */
static inline uintptr_t sim_device_view(const struct sim_range *range, uintptr_t address,
                                        enum sim_access *access)
{
    bool own = range->kind == MEMORY_PAGEABLE || range->mapped ||
               (range->kind == MEMORY_REGISTERED && !range->alias);
    *access = own ? ACCESS_SAFE : ACCESS_DIRECT;
    return own ? address : address + range->alias;
}

static inline bool sim_is_host(const struct sim_range *range)
{
    return range->kind <= MEMORY_PINNED;
}

/* A synchronous call that has to do with it waits for its turn. */
static inline bool sim_is_waited_for(const struct sim_range *range)
{
    return sim_is_host(range) || range->kind == MEMORY_MANAGED;
}

#endif
