#include "common/handles.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/checks.h"

#include "common/own_pages.h"
#include "common/seqlock.h"

#include "common/poison.h"

enum { FIRST_SLOTS = 256 };

/* Returns the size of a table with so many slots. */
static size_t table_bytes(uint32_t slots)
{
    return sizeof(struct sc_handle_table) + slots * sizeof(struct sc_handle_slot);
}

/* Maps an empty table. `slots` is a power of two, since a hash is cut to a slot by a mask. NULL:
 * no memory. */
static struct sc_handle_table *new_table(uint32_t slots)
{
    struct sc_handle_table *table = sc_pages_map(table_bytes(slots));
    if (table)
        table->mask = slots - 1;
    return table;
}

/* Makes the map ready, with an empty table. 0 or -ENOMEM. */
int sc_handles_init(struct sc_handles *handles)
{
    memset(handles, 0, sizeof *handles);
    struct sc_handle_table *table = new_table(FIRST_SLOTS);
    atomic_store_explicit(&handles->table, table, memory_order_release);
    return table ? 0 : -ENOMEM;
}

/* Unmaps the table, and former ones, which were kept for readers without the lock. */
void sc_handles_destroy(struct sc_handles *handles)
{
    struct sc_handle_table *table = atomic_load_explicit(&handles->table, memory_order_relaxed);
    while (table) {
        struct sc_handle_table *former = table->former;
        sc_pages_unmap(table, table_bytes(table->mask + 1));
        table = former;
    }
    memset(handles, 0, sizeof *handles);
}

/* Finds the slot that has the handle, or the empty slot where it belongs: the first of both from
 * the handle's home slot on. A table is never full, so the limit matters only to readers without
 * the lock, who may see a table that is being changed. */
static struct sc_handle_slot *find_slot(struct sc_handle_table *table, uintptr_t handle)
{
    uint32_t at = sc_handles_home(table, handle);
    for (uint32_t probes = 0; probes < table->mask; probes++) {
        struct sc_handle_slot *slot = &table->slots[at];
        uintptr_t found = atomic_load_explicit(&slot->handle, memory_order_acquire);
        if (found == handle || found == 0)
            return slot;
        at = (at + 1) & table->mask;
    }
    return &table->slots[at];
}

/* Returns the handle's value; 0: it is not there. Takes no lock: if a thread has changed the table
 * meanwhile, it searches again. The version is odd during a change, and another one after it. */
uint64_t sc_handles_search(struct sc_handles *handles, uintptr_t handle)
{
    for (;;) {
        uint64_t version = atomic_load_explicit(&handles->version, memory_order_acquire);
        struct sc_handle_table *table = atomic_load_explicit(&handles->table, memory_order_acquire);
        struct sc_handle_slot *slot = find_slot(table, handle);
        uint64_t value = 0;
        if (atomic_load_explicit(&slot->handle, memory_order_acquire) == handle)
            value = atomic_load_explicit(&slot->value, memory_order_acquire);
        if (!(version & 1) &&
            atomic_load_explicit(&handles->version, memory_order_relaxed) == version)
            return value;
    }
}

/* Fills the slot. Release stores: a reader without the lock that sees one of them sees the odd
 * version, too, and searches again. */
static void set_slot(struct sc_handle_slot *slot, uintptr_t handle, uint64_t value)
{
    atomic_store_explicit(&slot->value, value, memory_order_release);
    atomic_store_explicit(&slot->handle, handle, memory_order_release);
}

/* Returns the slot's handle, for callers with the lock; 0: it is empty. */
static uintptr_t handle_in(struct sc_handle_slot *slot)
{
    return atomic_load_explicit(&slot->handle, memory_order_relaxed);
}

/* Replaces the table by one with twice as many slots. The old one stays mapped, since a reader
 * without the lock may be using it. 0 or -ENOMEM. */
static int grow_table(struct sc_handles *handles, struct sc_handle_table *old)
{
    struct sc_handle_table *table = new_table((old->mask + 1) * 2);
    if (!table)
        return -ENOMEM;
    table->former = old;
    for (uint32_t i = 0; i <= old->mask; i++)
        if (handle_in(&old->slots[i]))
            set_slot(find_slot(table, handle_in(&old->slots[i])), handle_in(&old->slots[i]),
                     atomic_load_explicit(&old->slots[i].value, memory_order_relaxed));
    atomic_store_explicit(&handles->table, table, memory_order_release);
    return 0;
}

/* For debug builds: asserts that the table has as many handles as are counted, and each where a
 * look-up finds it. */
static SC_CHECKER void check_table(struct sc_handles *handles)
{
    struct sc_handle_table *table = atomic_load_explicit(&handles->table, memory_order_relaxed);
    uint32_t count = 0;
    for (uint32_t i = 0; i <= table->mask; i++) {
        uintptr_t handle = handle_in(&table->slots[i]);
        SC_ASSERT(!handle || find_slot(table, handle) == &table->slots[i]);
        count += handle != 0;
    }
    SC_ASSERT(count == handles->count);
    SC_ASSERT(!(atomic_load_explicit(&handles->version, memory_order_relaxed) & 1));
}

/* Adds a handle, or changes its value. The table grows when half of it is used. Without memory for
 * that it is filled except for one slot, at which look-ups end; then -ENOMEM. */
int sc_handles_put(struct sc_handles *handles, uintptr_t handle, uint64_t value)
{
    SC_ASSERT_GUARDED(handles);
    SC_ASSERT(handle != 0 && value != 0);
    struct sc_handle_table *table = atomic_load_explicit(&handles->table, memory_order_relaxed);
    int error = 0;
    sc_seqlock_next(&handles->version);
    if ((handles->count + 1) * 2 > table->mask + 1)
        error = grow_table(handles, table);
    table = atomic_load_explicit(&handles->table, memory_order_relaxed);
    struct sc_handle_slot *slot = find_slot(table, handle);
    bool fresh = handle_in(slot) != handle;
    if (fresh && error && handles->count + 2 > table->mask) {
        sc_seqlock_next(&handles->version);
        return error;
    }
    set_slot(slot, handle, value);
    handles->count += fresh;
    sc_seqlock_next(&handles->version);
    SC_CHECK_OF(table->mask, check_table(handles));
    return 0;
}

/* Empties the slot `gap`, whose handle is removed. A look-up ends at an empty slot, so each later
 * entry that would no longer be found moves into the gap, and leaves the next one. Marking removed
 * slots instead would fill the table of a program that makes and destroys streams for days. */
static void close_gap(struct sc_handle_table *table, uint32_t gap)
{
    for (uint32_t at = (gap + 1) & table->mask;; at = (at + 1) & table->mask) {
        struct sc_handle_slot *slot = &table->slots[at];
        uintptr_t handle = handle_in(slot);
        if (!handle)
            break;
        uint32_t home = sc_handles_home(table, handle);
        /* Its home is not behind the gap, so a look-up comes by there. */
        if (((at - home) & table->mask) >= ((at - gap) & table->mask)) {
            set_slot(&table->slots[gap], handle,
                     atomic_load_explicit(&slot->value, memory_order_relaxed));
            gap = at;
        }
    }
    set_slot(&table->slots[gap], 0, 0);
}

/* Removes the handle and returns the value that it had; 0: it is not there. The version is odd
 * while entries move, so that readers without the lock search again. */
uint64_t sc_handles_remove(struct sc_handles *handles, uintptr_t handle)
{
    SC_ASSERT_GUARDED(handles);
    struct sc_handle_table *table = atomic_load_explicit(&handles->table, memory_order_relaxed);
    struct sc_handle_slot *slot = find_slot(table, handle);
    if (!handle || handle_in(slot) != handle)
        return 0; /* empty slots hold the handle 0, which is never removed */
    uint64_t value = atomic_load_explicit(&slot->value, memory_order_relaxed);
    sc_seqlock_next(&handles->version);
    close_gap(table, (uint32_t)(slot - table->slots));
    handles->count--;
    sc_seqlock_next(&handles->version);
    SC_CHECK_OF(table->mask, check_table(handles));
    return value;
}

/* Takes the walk over all handles to the next one; handle 0: it is over. */
void sc_handles_next(struct sc_handles_walk *walk)
{
    SC_ASSERT_GUARDED(walk->handles);
    struct sc_handle_table *table =
        atomic_load_explicit(&walk->handles->table, memory_order_relaxed);
    for (walk->handle = 0; !walk->handle && walk->next <= table->mask; walk->next++) {
        walk->handle = handle_in(&table->slots[walk->next]);
        walk->value = atomic_load_explicit(&table->slots[walk->next].value, memory_order_relaxed);
    }
}
