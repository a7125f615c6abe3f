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

/* Pools are few: the index of the one with the handle, or SC_LEDGER_POOLS. */
static unsigned find_pool_locked(const struct sc_ledger *ledger, uint64_t handle)
    SC_REQUIRES(ledger->pools_lock)
{
    unsigned i = 0;
    while (i < SC_LEDGER_POOLS && (ledger->pools[i].handle != handle || ledger->pools[i].is_gone))
        i++;
    return i;
}

void sc_ledger_pool_met(struct sc_ledger *ledger, const struct sc_ledger_pool *pool)
{
    sc_brief_lock_take(&ledger->pools_lock);
    unsigned i = find_pool_locked(ledger, pool->handle);
    if (i == SC_LEDGER_POOLS)
        i = find_pool_locked(ledger, 0);
    if (i < SC_LEDGER_POOLS)
        ledger->pools[i] = *pool;
    sc_brief_lock_give(&ledger->pools_lock);
}

bool sc_ledger_pool_place(struct sc_ledger *ledger, uint64_t handle, unsigned *place)
{
    sc_brief_lock_take(&ledger->pools_lock);
    unsigned i = find_pool_locked(ledger, handle);
    if (i < SC_LEDGER_POOLS)
        *place = ledger->pools[i].place;
    sc_brief_lock_give(&ledger->pools_lock);
    return i < SC_LEDGER_POOLS;
}

static void drop_if_over(struct sc_ledger_pool *pool)
{
    if (pool->is_gone && pool->used.blocks == 0)
        *pool = (struct sc_ledger_pool){0};
}

void sc_ledger_pool_gone(struct sc_ledger *ledger, uint64_t handle)
{
    sc_brief_lock_take(&ledger->pools_lock);
    unsigned i = find_pool_locked(ledger, handle);
    if (i < SC_LEDGER_POOLS) {
        ledger->pools[i].is_gone = true;
        drop_if_over(&ledger->pools[i]);
    }
    sc_brief_lock_give(&ledger->pools_lock);
}

/* The index of the pool and one; 0: there is none, or no room. */
static uint64_t pool_credit(struct sc_ledger *ledger, uint64_t handle, uint64_t size_bytes)
{
    sc_brief_lock_take(&ledger->pools_lock);
    unsigned i = handle ? find_pool_locked(ledger, handle) : SC_LEDGER_POOLS;
    if (i < SC_LEDGER_POOLS)
        sc_accounts_count(&ledger->pools[i].used, size_bytes);
    sc_brief_lock_give(&ledger->pools_lock);
    return i < SC_LEDGER_POOLS ? i + 1 : 0;
}

static void pool_change(struct sc_ledger *ledger, uint64_t pool, uint64_t size_bytes, bool given)
{
    if (pool == 0)
        return;
    sc_brief_lock_take(&ledger->pools_lock);
    struct sc_ledger_pool *of = &ledger->pools[pool - 1];
    if (given) {
        sc_accounts_count(&of->used, size_bytes);
    } else {
        sc_accounts_uncount(&of->used, size_bytes);
        drop_if_over(of);
    }
    sc_brief_lock_give(&ledger->pools_lock);
}

/* ---- blocks ---- */

static bool is_pooled(const struct sc_ledger_entry *entry)
{
    return entry->kind == SC_LEDGER_POOLED;
}

/* May it have several references? */
static bool is_shared(enum sc_ledger_space space, enum sc_ledger_kind kind)
{
    return space == SC_LEDGER_MEMORY || kind == SC_LEDGER_IMPORTED;
}

static void debit(struct sc_ledger *ledger, const struct sc_ledger_entry *entry)
{
    sc_accounts_debit(accounts_of(ledger, entry), entry->kind, entry->account, entry->size_bytes);
    if (is_pooled(entry))
        pool_change(ledger, entry->of, entry->size_bytes, false);
}

static void restore(struct sc_ledger *ledger, const struct sc_ledger_entry *entry)
{
    sc_accounts_restore(accounts_of(ledger, entry), entry->kind, entry->account, entry->size_bytes);
    if (is_pooled(entry))
        pool_change(ledger, entry->of, entry->size_bytes, true);
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
    if (grown.kind != SC_LEDGER_KINDS)
        sc_accounts_grow(accounts_of(ledger, &grown), grown.kind, grown.account, size_bytes);
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

static void fill(struct sc_ledger_entry *entry, const struct sc_ledger_block *block, uint64_t of)
{
    entry->size_bytes = block->size_bytes;
    entry->of = of;
    entry->context = block->context;
    entry->kind = (uint8_t)block->kind;
    entry->place = (uint8_t)block->place;
    if (!is_shared(block->space, block->kind))
        return;
    entry->references = 1;
    entry->mappings = 0;
}

/* Counts it, and adds it to the locked shard. What is left behind under the name is in *gone. */
static bool add_locked(struct sc_ledger_shard *shard, const struct sc_ledger_block *block,
                       uint64_t of, uint32_t account, struct sc_ledger_entry *gone)
    SC_REQUIRES(shard->lock)
{
    uint32_t id = sc_ledger_index_find(shard, block->space, block->name);
    gone->leaves = true;
    if (id) {
        *gone = *sc_ledger_index_at(shard, id);
        sc_ledger_index_drop(shard, id);
    }
    id = sc_ledger_index_add(shard, block->space, block->name);
    if (!id)
        return false;
    struct sc_ledger_entry *entry = sc_ledger_index_at(shard, id);
    fill(entry, block, of);
    entry->account = account;
    return true;
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
    struct sc_accounts *accounts = &ledger->places[block->place];
    struct sc_ledger_entry gone = {.size_bytes = 0};
    if (open_once_more(shard, block))
        return;
    uint32_t account = sc_accounts_credit(accounts, block->kind, block->origin, block->size_bytes);
    uint64_t of = block->kind == SC_LEDGER_POOLED
                      ? pool_credit(ledger, block->of, block->size_bytes)
                      : block->of;
    sc_brief_lock_take(&shard->lock);
    bool is_added = add_locked(shard, block, of, account, &gone);
    sc_brief_lock_give(&shard->lock);
    if (!gone.leaves)
        debit(ledger, &gone);
    if (!is_added) {
        sc_accounts_debit(accounts, block->kind, account, block->size_bytes);
        pool_change(ledger, block->kind == SC_LEDGER_POOLED ? of : 0, block->size_bytes, false);
        atomic_fetch_add_explicit(&ledger->unrecorded, 1, memory_order_relaxed);
    }
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
