/* A map from a handle of the driver (a stream, an event, a context) to a 64-bit value.
 *
 * Look-ups take no lock and may run on any thread; changes need the owner's lock. Handles are never
 * 0; a value of 0 means "not there". The table grows by doubling. Outgrown tables stay mapped,
 * because a reader may still be using them; together they are no larger than the present one. */

/* Terms (docs/glossary.md):
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_TOOLS_HANDLES_H
#define SC_TOOLS_HANDLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A handle and its value; handle 0: the slot is empty. */
struct sc_handle_slot {
    _Atomic uintptr_t handle;
    _Atomic uint64_t value;
};

/* A hash table; `mask` is the number of slots, a power of two, minus 1. */
struct sc_handle_table {
    uint32_t mask;
    /* The former, smaller table, which a reader may still be using. */
    struct sc_handle_table *former;
    struct sc_handle_slot slots[];
};

/* A map from handles to values. Readers take no lock; changes need the owner's. */
struct sc_handles {
    _Atomic(struct sc_handle_table *) table;
    _Atomic uint64_t version; /* odd while a change is under way */
    uint32_t count;
#ifdef SC_DEBUG
    const struct sc_brief_lock *guard; /* as in struct sc_pool */
#endif
};

/* Makes the map ready, in memory with any contents. Returns 0 or -ENOMEM. */
int sc_handles_init(struct sc_handles *handles);

/* Unmaps all tables. No other thread may use the map any more. */
void sc_handles_destroy(struct sc_handles *handles);

/* Returns the value of a handle, or 0, wherever in the table it is. The slow part of
 * sc_handles_get, after the handle's first slot had another one. */
uint64_t sc_handles_search(struct sc_handles *handles, uintptr_t handle);

/* Returns the slot in which a handle is searched first: its home slot. */
static inline uint32_t sc_handles_home(const struct sc_handle_table *table, uintptr_t handle)
{
    return (uint32_t)((uint64_t)handle * 0x9E3779B97F4A7C15u >> 32) & table->mask;
}

/* Stores the value of a handle that is in the slot in which it is searched first, as most are.
 * False: another handle is there, or the table is being changed. No lock. */
static inline bool sc_handles_get_at_once(struct sc_handles *handles, uintptr_t handle,
                                          uint64_t *value)
{
    uint64_t version = atomic_load_explicit(&handles->version, memory_order_acquire);
    struct sc_handle_table *table = atomic_load_explicit(&handles->table, memory_order_acquire);
    struct sc_handle_slot *slot = &table->slots[sc_handles_home(table, handle)];
    bool is_there = atomic_load_explicit(&slot->handle, memory_order_acquire) == handle;
    *value = atomic_load_explicit(&slot->value, memory_order_acquire);
    return is_there && !(version & 1) &&
           atomic_load_explicit(&handles->version, memory_order_relaxed) == version;
}

/* Returns the value in the handle's home slot, if the slot has this handle; else 0. While the table
 * changes, the value may be another handle's: for callers that recognise a wrong value. */
static inline uint64_t sc_handles_guess(struct sc_handles *handles, uintptr_t handle)
{
    struct sc_handle_table *table = atomic_load_explicit(&handles->table, memory_order_acquire);
    struct sc_handle_slot *slot = &table->slots[sc_handles_home(table, handle)];
    return atomic_load_explicit(&slot->handle, memory_order_acquire) == handle
               ? atomic_load_explicit(&slot->value, memory_order_acquire)
               : 0;
}

/* Returns the value of the handle, or 0. Inline, since each wrapper looks up handles, and most are
 * in their home slots. */
static inline uint64_t sc_handles_get(struct sc_handles *handles, uintptr_t handle)
{
    uint64_t value;
    return __builtin_expect(sc_handles_get_at_once(handles, handle, &value), 1)
               ? value
               : sc_handles_search(handles, handle);
}

/* Returns a value of a map as the pointer that it is, or NULL. */
static inline void *sc_handle_pointer(uint64_t value)
{
    return (void *)(uintptr_t)value;
}

/* Adds the handle, or replaces its value. Returns 0, or -ENOMEM and changes nothing. */
int sc_handles_put(struct sc_handles *handles, uintptr_t handle, uint64_t value);

/* Removes the handle. Returns the value that it had, or 0. */
uint64_t sc_handles_remove(struct sc_handles *handles, uintptr_t handle);

/* An iteration over all handles. It needs the owner's lock, and the map must not change meanwhile.
 */
struct sc_handles_walk {
    uintptr_t handle; /* the present handle; 0: the walk is over */
    uint64_t value;
    struct sc_handles *handles;
    uint32_t next;
};

/* Goes to the next handle; begin a walk by sc_handles_begin or SC_HANDLES_EACH. */
void sc_handles_next(struct sc_handles_walk *walk);

/* Begins a walk over all handles: the first one is in `handle`, 0 in an empty map. */
static inline struct sc_handles_walk sc_handles_begin(struct sc_handles *handles)
{
    struct sc_handles_walk walk = {.handles = handles};
    sc_handles_next(&walk);
    return walk;
}

#define SC_HANDLES_EACH(walk, handles)                                                             \
    for (struct sc_handles_walk walk = sc_handles_begin(handles); walk.handle;                     \
         sc_handles_next(&walk))

#endif
