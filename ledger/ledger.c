#include "ledger/ledger.h"

#include "ledger/accounts.h"
#include "ledger/ledger_index.h"
#include "ledger/ledger_internal.h"
#include "ledger/ledger_words.h"
#include "track/brief_lock.h"
#include "track/checks.h"

#include "track/poison.h"

struct sc_ledger sc_ledger;

static struct sc_accounts *accounts_of(struct sc_ledger *ledger,
                                       const struct sc_ledger_entry *entry)
{
    return &ledger->places[entry->place];
}

/* ---- pools ---- */

static bool is_pool(const struct sc_ledger_pool *pool, uint64_t handle)
{
    return atomic_load_explicit(&pool->handle, memory_order_acquire) == handle &&
           !atomic_load_explicit(&pool->is_gone, memory_order_relaxed);
}

/* Pools are few. NULL: it is not known. */
static struct sc_ledger_pool *find_pool(struct sc_ledger *ledger, uint64_t handle)
{
    unsigned ever = atomic_load_explicit(&ledger->pools_ever, memory_order_acquire);
    for (unsigned i = 0; handle && i < ever; i++)
        if (is_pool(&ledger->pools[i], handle))
            return &ledger->pools[i];
    return NULL;
}

/* One that nobody has any more, or NULL. */
static struct sc_ledger_pool *find_room_locked(struct sc_ledger *ledger)
    SC_REQUIRES(ledger->pools_lock)
{
    unsigned ever = atomic_load_explicit(&ledger->pools_ever, memory_order_relaxed);
    for (unsigned i = 0; i < ever; i++)
        if (atomic_load_explicit(&ledger->pools[i].handle, memory_order_acquire) == 0)
            return &ledger->pools[i];
    if (ever == SC_LEDGER_POOLS)
        return NULL;
    atomic_store_explicit(&ledger->pools_ever, ever + 1, memory_order_release);
    return &ledger->pools[ever];
}

void sc_ledger_pool_met(struct sc_ledger *ledger, uint64_t handle, unsigned place, uint32_t origin,
                        bool is_imported)
{
    sc_brief_lock_take(&ledger->pools_lock);
    struct sc_ledger_pool *pool = find_pool(ledger, handle) ? NULL : find_room_locked(ledger);
    if (pool) {
        pool->place = (uint8_t)place;
        pool->origin = origin;
        pool->is_imported = is_imported;
        pool->used = (struct sc_ledger_count){0};
        atomic_store_explicit(&pool->is_gone, false, memory_order_relaxed);
        atomic_store_explicit(&pool->handle, handle, memory_order_release);
    }
    sc_brief_lock_give(&ledger->pools_lock);
}

bool sc_ledger_pool_place(struct sc_ledger *ledger, uint64_t handle, unsigned *place)
{
    const struct sc_ledger_pool *pool = find_pool(ledger, handle);
    if (pool)
        *place = pool->place;
    return pool;
}

static void forget_if_over(struct sc_ledger_pool *pool)
{
    if (atomic_load_explicit(&pool->is_gone, memory_order_relaxed) && pool->used.blocks == 0)
        atomic_store_explicit(&pool->handle, 0, memory_order_release);
}

void sc_ledger_pool_gone(struct sc_ledger *ledger, uint64_t handle)
{
    struct sc_ledger_pool *pool = find_pool(ledger, handle);
    if (!pool)
        return;
    struct sc_brief_lock *lock = &ledger->places[pool->place].lock;
    sc_brief_lock_take(lock);
    atomic_store_explicit(&pool->is_gone, true, memory_order_relaxed);
    forget_if_over(pool);
    sc_brief_lock_give(lock);
}

/* ---- blocks ---- */

/* Which pool it is of, or NULL. */
static struct sc_ledger_pool *pool_of(struct sc_ledger *ledger, const struct sc_ledger_entry *entry)
{
    return entry->kind == SC_LEDGER_POOLED && entry->of ? &ledger->pools[entry->of - 1] : NULL;
}

/* May it have several references? */
static bool is_shared(enum sc_ledger_space space, enum sc_ledger_kind kind)
{
    return space == SC_LEDGER_MEMORY || kind == SC_LEDGER_IMPORTED;
}

static void debit(struct sc_ledger *ledger, const struct sc_ledger_entry *entry)
{
    struct sc_accounts *accounts = accounts_of(ledger, entry);
    struct sc_ledger_pool *pool = pool_of(ledger, entry);
    sc_brief_lock_take(&accounts->lock);
    sc_accounts_debit(accounts, entry->kind, entry->account, entry->size_bytes);
    if (pool) {
        sc_accounts_uncount(&pool->used, entry->size_bytes);
        forget_if_over(pool);
    }
    sc_brief_lock_give(&accounts->lock);
}

static void restore(struct sc_ledger *ledger, const struct sc_ledger_entry *entry)
{
    struct sc_accounts *accounts = accounts_of(ledger, entry);
    struct sc_ledger_pool *pool = pool_of(ledger, entry);
    sc_brief_lock_take(&accounts->lock);
    sc_accounts_restore(accounts, entry->kind, entry->account, entry->size_bytes);
    if (pool)
        sc_accounts_count(&pool->used, entry->size_bytes);
    sc_brief_lock_give(&accounts->lock);
}

/* The block as it is to be added, and counted already. */
static struct sc_ledger_entry credit(struct sc_ledger *ledger, const struct sc_ledger_block *block)
{
    bool is_pooled = block->kind == SC_LEDGER_POOLED;
    struct sc_accounts *accounts = &ledger->places[block->place];
    struct sc_ledger_pool *pool = is_pooled ? find_pool(ledger, block->of) : NULL;
    struct sc_ledger_entry entry = {
        .name = block->name,
        .size_bytes = block->size_bytes,
        .of = block->of,
        .context = block->context,
        .space = (uint8_t)block->space,
        .kind = (uint8_t)block->kind,
        .place = (uint8_t)block->place,
    };
    if (is_shared(block->space, block->kind)) {
        entry.references = 1;
        entry.mappings = 0;
    }
    if (is_pooled)
        entry.of = pool && pool->place == block->place ? (uint64_t)(pool - ledger->pools) + 1 : 0;
    sc_brief_lock_take(&accounts->lock);
    entry.account = sc_accounts_credit(accounts, block->kind, block->origin, block->size_bytes);
    if (entry.of && pool)
        sc_accounts_count(&pool->used, block->size_bytes);
    sc_brief_lock_give(&accounts->lock);
    return entry;
}

bool sc_ledger_find(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                    struct sc_ledger_block *block)
{
    struct sc_ledger_shard *shard = sc_ledger_index_shard(&ledger->index, space, name);
    sc_brief_lock_take(&shard->lock);
    uint32_t id = sc_ledger_index_find(shard, space, name);
    const struct sc_ledger_entry *entry = id ? sc_ledger_index_at(shard, id) : NULL;
    if (entry)
        *block = (struct sc_ledger_block){.space = space,
                                          .kind = entry->kind,
                                          .name = name,
                                          .size_bytes = entry->size_bytes,
                                          .of = is_shared(space, entry->kind) ? 0 : entry->of,
                                          .context = entry->context,
                                          .place = entry->place};
    sc_brief_lock_give(&shard->lock);
    return entry;
}

bool sc_ledger_refer(struct sc_ledger *ledger, uint64_t handle)
{
    struct sc_ledger_shard *shard = sc_ledger_index_shard(&ledger->index, SC_LEDGER_MEMORY, handle);
    sc_brief_lock_take(&shard->lock);
    uint32_t id = sc_ledger_index_find(shard, SC_LEDGER_MEMORY, handle);
    if (id)
        sc_ledger_index_at(shard, id)->references++;
    sc_brief_lock_give(&shard->lock);
    return id;
}

/* All of the memory is mapped, or none: so imported memory is known to be as large. */
static void map(struct sc_ledger *ledger, uint64_t handle, uint64_t size_bytes)
{
    struct sc_ledger_shard *shard = sc_ledger_index_shard(&ledger->index, SC_LEDGER_MEMORY, handle);
    struct sc_ledger_entry grown = {.kind = SC_LEDGER_KINDS};
    sc_brief_lock_take(&shard->lock);
    uint32_t id = sc_ledger_index_find(shard, SC_LEDGER_MEMORY, handle);
    struct sc_ledger_entry *entry = id ? sc_ledger_index_at(shard, id) : NULL;
    if (entry) {
        entry->mappings++;
        if (entry->size_bytes == 0 && entry->kind == SC_LEDGER_IMPORTED && !entry->leaves)
            grown = *entry;
        entry->size_bytes = grown.kind == SC_LEDGER_KINDS ? entry->size_bytes : size_bytes;
    }
    sc_brief_lock_give(&shard->lock);
    if (grown.kind == SC_LEDGER_KINDS)
        return;
    struct sc_accounts *accounts = accounts_of(ledger, &grown);
    sc_brief_lock_take(&accounts->lock);
    sc_accounts_grow(accounts, grown.kind, grown.account, size_bytes);
    sc_brief_lock_give(&accounts->lock);
}

static void unmap(struct sc_ledger *ledger, uint64_t handle)
{
    struct sc_ledger_shard *shard = sc_ledger_index_shard(&ledger->index, SC_LEDGER_MEMORY, handle);
    struct sc_ledger_entry gone = {.size_bytes = 0};
    sc_brief_lock_take(&shard->lock);
    uint32_t id = sc_ledger_index_find(shard, SC_LEDGER_MEMORY, handle);
    struct sc_ledger_entry *entry = id ? sc_ledger_index_at(shard, id) : NULL;
    if (entry && entry->mappings > 0)
        entry->mappings--;
    bool is_over = entry && entry->references == 0 && entry->mappings == 0 && !entry->leaves;
    if (is_over) {
        gone = *entry;
        sc_ledger_index_drop(shard, id);
    }
    sc_brief_lock_give(&shard->lock);
    if (is_over)
        debit(ledger, &gone);
}

/* It was opened before, and has one reference more. */
static bool is_once_more(struct sc_ledger_entry *entry, const struct sc_ledger_block *block)
{
    bool is_open =
        !entry->leaves && block->kind == SC_LEDGER_IMPORTED && entry->kind == SC_LEDGER_IMPORTED;
    entry->references += is_open;
    return is_open;
}

/* Takes the place of what had the name, which is in *gone (`leaves`: nothing that counts). False:
 * no memory. */
static bool add_locked(struct sc_ledger_shard *shard, const struct sc_ledger_entry *entry,
                       struct sc_ledger_entry *gone) SC_REQUIRES(shard->lock)
{
    uint32_t id = sc_ledger_index_find(shard, entry->space, entry->name);
    *gone = (struct sc_ledger_entry){.leaves = true};
    if (id) {
        *gone = *sc_ledger_index_at(shard, id);
        sc_ledger_index_drop(shard, id);
    }
    return sc_ledger_index_add(shard, entry);
}

static bool open_once_more(struct sc_ledger_shard *shard, const struct sc_ledger_block *block)
{
    if (block->kind != SC_LEDGER_IMPORTED)
        return false;
    sc_brief_lock_take(&shard->lock);
    uint32_t id = sc_ledger_index_find(shard, block->space, block->name);
    bool is_open = id && is_once_more(sc_ledger_index_at(shard, id), block);
    sc_brief_lock_give(&shard->lock);
    return is_open;
}

void sc_ledger_given(struct sc_ledger *ledger, const struct sc_ledger_block *block)
{
    struct sc_ledger_shard *shard =
        sc_ledger_index_shard(&ledger->index, block->space, block->name);
    struct sc_ledger_entry gone;
    if (open_once_more(shard, block))
        return;
    const struct sc_ledger_entry entry = credit(ledger, block);
    sc_brief_lock_take(&shard->lock);
    bool is_added = add_locked(shard, &entry, &gone);
    sc_brief_lock_give(&shard->lock);
    if (!gone.leaves)
        debit(ledger, &gone);
    if (!is_added) {
        debit(ledger, &entry);
        atomic_fetch_add_explicit(&ledger->unrecorded, 1, memory_order_relaxed);
    }
    if (block->space == SC_LEDGER_MAPPING && gone.of)
        unmap(ledger, gone.of);
    if (block->space == SC_LEDGER_MAPPING)
        map(ledger, block->of, block->size_bytes);
}

/* One reference less. True: it was the last one. */
static bool lets_go(struct sc_ledger_entry *entry)
{
    if (!is_shared(entry->space, entry->kind))
        return true;
    if (entry->references > 0)
        entry->references--;
    return entry->references == 0 && entry->mappings == 0;
}

bool sc_ledger_leaves(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name)
{
    struct sc_ledger_shard *shard = sc_ledger_index_shard(&ledger->index, space, name);
    struct sc_ledger_entry leaving = {.size_bytes = 0};
    sc_brief_lock_take(&shard->lock);
    uint32_t id = sc_ledger_index_find(shard, space, name);
    struct sc_ledger_entry *entry = id ? sc_ledger_index_at(shard, id) : NULL;
    bool is_there =
        entry && !entry->leaves && (!is_shared(space, entry->kind) || entry->references > 0);
    bool is_last = is_there && lets_go(entry);
    if (is_last) {
        entry->leaves = true;
        leaving = *entry;
    }
    sc_brief_lock_give(&shard->lock);
    if (is_last)
        debit(ledger, &leaving);
    return is_there;
}

void sc_ledger_free_unknown(struct sc_ledger *ledger)
{
    atomic_fetch_add_explicit(&ledger->unknown_frees, 1, memory_order_relaxed);
}

void sc_ledger_left(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name, bool taken)
{
    struct sc_ledger_shard *shard = sc_ledger_index_shard(&ledger->index, space, name);
    struct sc_ledger_entry was = {.size_bytes = 0};
    sc_brief_lock_take(&shard->lock);
    uint32_t id = sc_ledger_index_find(shard, space, name);
    struct sc_ledger_entry *entry = id ? sc_ledger_index_at(shard, id) : NULL;
    if (entry)
        was = *entry;
    if (entry && was.leaves && taken)
        sc_ledger_index_drop(shard, id);
    else if (entry && !taken) {
        entry->leaves = false;
        entry->references += is_shared(space, entry->kind);
    }
    sc_brief_lock_give(&shard->lock);
    if (was.leaves && !taken)
        restore(ledger, &was);
    if (was.leaves && taken && space == SC_LEDGER_MAPPING)
        unmap(ledger, was.of);
}

/* ---- contexts ---- */

/* An entry of the context, or 0. */
static uint32_t find_of_context(struct sc_ledger_shard *shard, uint32_t context, uint32_t *from)
    SC_REQUIRES(shard->lock)
{
    for (; *from < shard->cells; ++*from)
        for (uint32_t id = shard->heads[*from]; id; id = sc_ledger_index_at(shard, id)->next)
            if (sc_ledger_index_at(shard, id)->context == context)
                return id;
    return 0;
}

static void end_context_in(struct sc_ledger *ledger, struct sc_ledger_shard *shard,
                           uint32_t context)
{
    uint32_t from = 0, id;
    struct sc_ledger_entry gone;
    sc_brief_lock_take(&shard->lock);
    while ((id = find_of_context(shard, context, &from)) != 0) {
        gone = *sc_ledger_index_at(shard, id);
        sc_ledger_index_drop(shard, id);
        sc_brief_lock_give(&shard->lock);
        if (!gone.leaves)
            debit(ledger, &gone);
        sc_brief_lock_take(&shard->lock);
    }
    sc_brief_lock_give(&shard->lock);
}

void sc_ledger_end_context(struct sc_ledger *ledger, uint32_t context)
{
    for (unsigned i = 0; context && i < SC_LEDGER_SHARDS; i++)
        end_context_in(ledger, &ledger->index.shards[i], context);
}

void sc_ledger_outlive(struct sc_ledger *ledger, unsigned place, bool is_reset)
{
    struct sc_accounts *accounts = &ledger->places[place];
    sc_brief_lock_take(&accounts->lock);
    sc_accounts_outlive(accounts, is_reset);
    sc_brief_lock_give(&accounts->lock);
}
