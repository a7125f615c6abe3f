#include "ledger/ledger.h"

#include <string.h>

#include "common/brief_lock_here.h"
#include "common/checks.h"
#include "ledger/accounts.h"
#include "ledger/ledger_index.h"
#include "ledger/ledger_internal.h"
#include "ledger/ledger_words.h"

#include "common/poison.h"

struct sc_ledger sc_ledger;

static inline void take(struct sc_ledger *ledger) SC_ACQUIRES(ledger->lock)
{
    sc_brief_lock_here_take(&ledger->lock);
    SC_GUARD(&ledger->index.entries, &ledger->lock);
}

static inline void give(struct sc_ledger *ledger) SC_RELEASES(ledger->lock)
{
    sc_brief_lock_here_give(&ledger->lock);
}

/* Where it lies is found once: the compiler would else find it for each access. */
static inline struct sc_accounts *accounts_at(struct sc_ledger *ledger, unsigned place)
{
    struct sc_accounts *accounts = &ledger->places[place];
    __asm__("" : "+r"(accounts));
    return accounts;
}

/* ---- pools ---- */

static bool is_pool(const struct sc_ledger_pool *pool, uint64_t handle)
{
    return atomic_load_explicit(&pool->handle, memory_order_acquire) == handle &&
           !atomic_load_explicit(&pool->is_gone, memory_order_relaxed);
}

static inline uint64_t handle_of_pool(const struct sc_ledger *ledger, uint64_t number)
{
    return atomic_load_explicit(&ledger->pools[number - 1].handle, memory_order_relaxed);
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
static struct sc_ledger_pool *find_room_locked(struct sc_ledger *ledger) SC_REQUIRES(ledger->lock)
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
    take(ledger);
    struct sc_ledger_pool *pool = find_pool(ledger, handle) ? NULL : find_room_locked(ledger);
    if (pool) {
        pool->place = (uint8_t)place;
        pool->origin = origin;
        pool->is_imported = is_imported;
        pool->used = (struct sc_ledger_count){0};
        pool->exported_ns = 0;
        atomic_store_explicit(&pool->is_gone, false, memory_order_relaxed);
        atomic_store_explicit(&pool->handle, handle, memory_order_release);
    }
    give(ledger);
}

unsigned sc_ledger_pool_number(struct sc_ledger *ledger, uint64_t handle, unsigned *place)
{
    const struct sc_ledger_pool *pool = find_pool(ledger, handle);
    if (!pool)
        return 0;
    *place = pool->place;
    return (unsigned)(pool - ledger->pools) + 1;
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
    take(ledger);
    atomic_store_explicit(&pool->is_gone, true, memory_order_relaxed);
    forget_if_over(pool);
    give(ledger);
}

/* ---- blocks ---- */

static struct sc_ledger_entry *find(struct sc_ledger *ledger, enum sc_ledger_space space,
                                    uint64_t name) SC_REQUIRES(ledger->lock)
{
    return sc_ledger_index_seek(&ledger->index, space, name).entry;
}

/* Of a pool that is over by now the block is not. */
static inline void count_in_pool(struct sc_ledger *ledger, struct sc_ledger_entry *entry)
    SC_REQUIRES(ledger->lock)
{
    struct sc_ledger_pool *pool = entry->of ? &ledger->pools[entry->of - 1] : NULL;
    if (pool && atomic_load_explicit(&pool->handle, memory_order_relaxed))
        sc_accounts_count(&pool->used, entry->size_bytes);
    else
        entry->of = 0;
}

/* Of physical memory people are told how often it was not released yet. */
static void refer(struct sc_ledger *ledger, struct sc_ledger_entry *entry, int32_t more)
    SC_REQUIRES(ledger->lock)
{
    struct sc_account *account = sc_accounts_at(accounts_at(ledger, entry->place), entry->account);
    entry->references += (uint32_t)more;
    if (account && entry->kind == SC_LEDGER_PHYSICAL)
        account->references += (uint64_t)(int64_t)more;
}

/* May it have several references? */
static bool is_shared(enum sc_ledger_space space, enum sc_ledger_kind kind)
{
    return space == SC_LEDGER_MEMORY || kind == SC_LEDGER_IMPORTED;
}

static void debit(struct sc_ledger *ledger, const struct sc_ledger_entry *entry)
    SC_REQUIRES(ledger->lock)
{
    struct sc_accounts *accounts = accounts_at(ledger, entry->place);
    sc_accounts_debit(accounts, entry->kind, sc_accounts_at(accounts, entry->account),
                      entry->size_bytes);
    if (entry->kind != SC_LEDGER_POOLED || !entry->of)
        return;
    struct sc_ledger_pool *pool = &ledger->pools[entry->of - 1];
    sc_accounts_uncount(&pool->used, entry->size_bytes);
    forget_if_over(pool);
}

static void restore(struct sc_ledger *ledger, struct sc_ledger_entry *entry)
    SC_REQUIRES(ledger->lock)
{
    struct sc_accounts *accounts = accounts_at(ledger, entry->place);
    sc_accounts_credit(accounts, entry->kind, sc_accounts_at(accounts, entry->account),
                       entry->size_bytes, false);
    if (entry->kind == SC_LEDGER_POOLED)
        count_in_pool(ledger, entry);
}

bool sc_ledger_find(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                    struct sc_ledger_block *block)
{
    take(ledger);
    const struct sc_ledger_entry *entry = find(ledger, space, name);
    if (entry)
        *block = (struct sc_ledger_block){.space = space,
                                          .kind = entry->kind,
                                          .name = name,
                                          .size_bytes = entry->size_bytes,
                                          .of = is_shared(space, entry->kind) ? 0 : entry->of,
                                          .context = entry->context,
                                          .place = entry->place};
    give(ledger);
    return entry;
}

bool sc_ledger_refer(struct sc_ledger *ledger, uint64_t handle)
{
    take(ledger);
    struct sc_ledger_entry *entry = find(ledger, SC_LEDGER_MEMORY, handle);
    if (entry)
        refer(ledger, entry, 1);
    give(ledger);
    return entry;
}

/* All of the memory is mapped, or none: so imported memory is known to be as large. */
static void map(struct sc_ledger *ledger, uint64_t handle, uint64_t size_bytes)
    SC_REQUIRES(ledger->lock)
{
    struct sc_ledger_entry *entry = find(ledger, SC_LEDGER_MEMORY, handle);
    if (!entry)
        return;
    entry->mappings++;
    if (entry->size_bytes || entry->kind != SC_LEDGER_IMPORTED)
        return;
    entry->size_bytes = size_bytes;
    struct sc_accounts *accounts = accounts_at(ledger, entry->place);
    sc_accounts_grow(accounts, entry->kind, sc_accounts_at(accounts, entry->account), size_bytes);
}

static void unmap(struct sc_ledger *ledger, uint64_t handle) SC_REQUIRES(ledger->lock)
{
    struct sc_ledger_found found = sc_ledger_index_seek(&ledger->index, SC_LEDGER_MEMORY, handle);
    struct sc_ledger_entry *entry = found.entry;
    if (entry && entry->mappings > 0)
        entry->mappings--;
    if (!entry || entry->references || entry->mappings)
        return;
    debit(ledger, entry);
    sc_ledger_index_drop(&ledger->index, found);
}

/* It was opened before, and has one reference more. */
static bool is_once_more(struct sc_ledger *ledger, struct sc_ledger_entry *entry,
                         const struct sc_ledger_block *block) SC_REQUIRES(ledger->lock)
{
    bool is_open = block->kind == SC_LEDGER_IMPORTED && entry->kind == SC_LEDGER_IMPORTED;
    if (is_open)
        refer(ledger, entry, 1);
    return is_open;
}

/* What had the name is counted no more. */
static void displace(struct sc_ledger *ledger, struct sc_ledger_entry *entry)
    SC_REQUIRES(ledger->lock)
{
    if (entry->space == SC_LEDGER_MEMORY)
        refer(ledger, entry, -(int32_t)entry->references);
    debit(ledger, entry);
    if (entry->space == SC_LEDGER_MAPPING)
        unmap(ledger, entry->of);
}

/* The entry has its name already. */
static void credit(struct sc_ledger *ledger, struct sc_ledger_entry *entry,
                   const struct sc_ledger_block *block) SC_REQUIRES(ledger->lock)
{
    struct sc_accounts *accounts = accounts_at(ledger, block->place);
    entry->size_bytes = block->size_bytes;
    entry->of = block->of;
    if (is_shared(block->space, block->kind)) {
        entry->references = 0;
        entry->mappings = 0;
    }
    entry->context = block->context;
    entry->kind = (uint8_t)block->kind;
    entry->place = (uint8_t)block->place;
    entry->is_exported = false;
    struct sc_account *account = sc_accounts_find(accounts, block->kind, block->origin);
    entry->account = account ? account->id : 0;
    sc_accounts_credit(accounts, block->kind, account, block->size_bytes, true);
    if (block->kind == SC_LEDGER_POOLED)
        count_in_pool(ledger, entry);
    else if (is_shared(block->space, block->kind))
        refer(ledger, entry, 1);
}

/* Returns the entry; NULL: without memory, or it was there and has one reference more. */
static struct sc_ledger_entry *add(struct sc_ledger *ledger, const struct sc_ledger_block *block)
    SC_REQUIRES(ledger->lock)
{
    struct sc_ledger_found found = sc_ledger_index_seek(&ledger->index, block->space, block->name);
    struct sc_ledger_entry *entry = found.entry;
    if (entry && is_once_more(ledger, entry, block))
        return NULL;
    if (entry)
        displace(ledger, entry);
    else if (found.link)
        entry = sc_ledger_index_add(&ledger->index, found.link, block->space, block->name);
    if (entry)
        credit(ledger, entry, block);
    else
        atomic_fetch_add_explicit(&ledger->unrecorded, 1, memory_order_relaxed);
    if (block->space == SC_LEDGER_MAPPING)
        map(ledger, block->of, block->size_bytes);
    return entry;
}

void sc_ledger_given(struct sc_ledger *ledger, const struct sc_ledger_block *block)
{
    take(ledger);
    add(ledger, block);
    give(ledger);
}

/* ---- taken back ---- */

/* One reference less. The last one takes the block along. */
static bool let_go(struct sc_ledger *ledger, struct sc_ledger_found found,
                   struct sc_ledger_leaving *leaving) SC_REQUIRES(ledger->lock)
{
    struct sc_ledger_entry *entry = found.entry;
    bool shared = is_shared(entry->space, entry->kind);
    if (shared && entry->references == 0)
        return false;
    if (shared)
        refer(ledger, entry, -1);
    leaving->was = *entry;
    leaving->ends = ledger->ends;
    leaving->pool =
        entry->kind == SC_LEDGER_POOLED && entry->of ? handle_of_pool(ledger, entry->of) : 0;
    if (shared && (entry->references || entry->mappings))
        return true;
    debit(ledger, entry);
    sc_ledger_index_drop(&ledger->index, found);
    return true;
}

static bool leave(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                  struct sc_ledger_leaving *leaving) SC_RELEASES(ledger->lock)
{
    struct sc_ledger_found found = sc_ledger_index_seek(&ledger->index, space, name);
    bool is_known = found.entry && let_go(ledger, found, leaving);
    give(ledger);
    if (!is_known && leaving->was.name != name)
        leaving->was.name = 0;
    return is_known;
}

bool sc_ledger_leaves(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                      struct sc_ledger_leaving *leaving)
{
    take(ledger);
    return leave(ledger, space, name, leaving);
}

/* ---- memory of pools, as programs ask for it most ----
 *
 * A program that allocates and frees in turn gets the same addresses: the entry of one that it has
 * freed rests where it is. A function that calls nothing need not keep registers, so what else
 * there is to do is left to another function at the end. */

static __attribute__((noinline)) void give_of_pool(struct sc_ledger *ledger, uint64_t name,
                                                   uint64_t size_bytes, unsigned pool,
                                                   unsigned place, uint32_t origin)
    SC_RELEASES(ledger->lock)
{
    struct sc_ledger_entry *entry =
        add(ledger, &(const struct sc_ledger_block){.space = SC_LEDGER_ADDRESS,
                                                    .kind = SC_LEDGER_POOLED,
                                                    .name = name,
                                                    .size_bytes = size_bytes,
                                                    .of = pool,
                                                    .origin = origin,
                                                    .place = place});
    if (entry)
        sc_ledger_index_note(&ledger->index, entry);
    give(ledger);
}

static __attribute__((noinline)) void give_of_pool_behind_others(struct sc_ledger *ledger,
                                                                 uint64_t name, uint64_t size_bytes,
                                                                 unsigned pool, unsigned place,
                                                                 uint32_t origin)
{
    sc_brief_lock_here_await(&ledger->lock);
    give_of_pool(ledger, name, size_bytes, pool, place, origin);
}

/* The block rested, and its account is another origin's now. NULL: there is none of that yet. */
static inline struct sc_account *change_account(struct sc_accounts *accounts,
                                                struct sc_ledger_entry *entry, uint32_t origin)
{
    struct sc_account *account = sc_accounts_look(accounts, SC_LEDGER_POOLED, origin);
    if (account)
        entry->account = account->id;
    return account;
}

static inline struct sc_account *account_of(struct sc_accounts *accounts,
                                            const struct sc_ledger_entry *entry)
{
    return sc_pool_at_of(&accounts->accounts, entry->account, sizeof(struct sc_account));
}

void sc_ledger_given_of_pool(struct sc_ledger *ledger, uint64_t name, uint64_t size_bytes,
                             unsigned number, unsigned place, uint32_t origin) SC_UNFOLLOWED
{
    if (!sc_brief_lock_here_try(&ledger->lock)) {
        give_of_pool_behind_others(ledger, name, size_bytes, number, place, origin);
        return;
    }
    struct sc_ledger_entry *entry = *sc_ledger_index_latest(&ledger->index, name);
    struct sc_accounts *accounts = NULL;
    struct sc_account *account = NULL;
    struct sc_ledger_pool *pool = NULL;
    if (entry && entry->name == name && entry->kind == SC_LEDGER_RESTS && entry->of == number &&
        entry->place == place) {
        pool = &ledger->pools[number - 1];
        accounts = accounts_at(ledger, place);
        account = account_of(accounts, entry);
        if (__builtin_expect(account->origin != origin, 0))
            account = change_account(accounts, entry, origin);
    }
    if (!account || !atomic_load_explicit(&pool->handle, memory_order_relaxed)) {
        give_of_pool(ledger, name, size_bytes, number, place, origin);
        return;
    }
    entry->kind = SC_LEDGER_POOLED;
    entry->size_bytes = size_bytes;
    sc_accounts_credit(accounts, SC_LEDGER_POOLED, account, size_bytes, true);
    sc_accounts_count(&pool->used, size_bytes);
    give(ledger);
}

static __attribute__((noinline)) void leave_of_pool(struct sc_ledger *ledger, uint64_t name,
                                                    struct sc_ledger_leaving *leaving)
    SC_RELEASES(ledger->lock)
{
    leave(ledger, SC_LEDGER_ADDRESS, name, leaving);
}

static __attribute__((noinline)) void leave_behind_others(struct sc_ledger *ledger, uint64_t name,
                                                          struct sc_ledger_leaving *leaving)
{
    sc_brief_lock_here_await(&ledger->lock);
    leave_of_pool(ledger, name, leaving);
}

void sc_ledger_leaves_of_pool(struct sc_ledger *ledger, uint64_t name,
                              struct sc_ledger_leaving *leaving) SC_UNFOLLOWED
{
    if (!sc_brief_lock_here_try(&ledger->lock)) {
        leave_behind_others(ledger, name, leaving);
        return;
    }
    struct sc_ledger_entry *entry = *sc_ledger_index_latest(&ledger->index, name);
    bool is_it = entry && entry->name == name && entry->kind == SC_LEDGER_POOLED && entry->of &&
                 entry->account && !entry->is_exported;
    struct sc_ledger_pool *pool = is_it ? &ledger->pools[entry->of - 1] : NULL;
    if (!is_it || atomic_load_explicit(&pool->is_gone, memory_order_relaxed)) {
        leave_of_pool(ledger, name, leaving);
        return;
    }
    struct sc_accounts *accounts = accounts_at(ledger, entry->place);
    uint64_t size_bytes = entry->size_bytes;
    leaving->was = *entry;
    leaving->pool = atomic_load_explicit(&pool->handle, memory_order_relaxed);
    entry->kind = SC_LEDGER_RESTS;
    sc_accounts_debit(accounts, SC_LEDGER_POOLED, account_of(accounts, entry), size_bytes);
    sc_accounts_uncount(&pool->used, size_bytes);
    give(ledger);
}

void sc_ledger_free_unknown(struct sc_ledger *ledger)
{
    atomic_fetch_add_explicit(&ledger->unknown_frees, 1, memory_order_relaxed);
}

/* Has the block's context ended since it left? */
static bool is_over(const struct sc_ledger *ledger, const struct sc_ledger_leaving *leaving)
    SC_REQUIRES(ledger->lock)
{
    for (unsigned i = leaving->ends; leaving->was.context && i != ledger->ends; i++)
        if (ledger->ended[i % SC_LEDGER_ENDS] == leaving->was.context)
            return true;
    return false;
}

/* The pool's number may be another pool's. */
static void put_back(struct sc_ledger *ledger, uint32_t *link,
                     const struct sc_ledger_leaving *leaving) SC_REQUIRES(ledger->lock)
{
    const struct sc_ledger_entry *was = &leaving->was;
    struct sc_ledger_entry *entry =
        sc_ledger_index_add(&ledger->index, link, was->space, was->name);
    if (!entry)
        return;
    uint32_t next = entry->next;
    *entry = *was;
    entry->next = next;
    if (is_shared(was->space, was->kind))
        refer(ledger, entry, 1);
    if (was->kind == SC_LEDGER_POOLED && was->of &&
        handle_of_pool(ledger, was->of) != leaving->pool)
        entry->of = 0;
    restore(ledger, entry);
}

void sc_ledger_refused(struct sc_ledger *ledger, const struct sc_ledger_leaving *leaving)
{
    const struct sc_ledger_entry *was = &leaving->was;
    bool is_there = is_shared(was->space, was->kind) && (was->references || was->mappings);
    if (!was->name)
        return;
    take(ledger);
    struct sc_ledger_found found = sc_ledger_index_seek(&ledger->index, was->space, was->name);
    if (found.entry)
        refer(ledger, found.entry, is_there);
    else if (!is_there && found.link && !is_over(ledger, leaving))
        put_back(ledger, found.link, leaving);
    give(ledger);
}

uint64_t sc_ledger_unmapped(struct sc_ledger *ledger, uint64_t address)
{
    take(ledger);
    struct sc_ledger_found found = sc_ledger_index_seek(&ledger->index, SC_LEDGER_MAPPING, address);
    uint64_t size_bytes = found.entry ? found.entry->size_bytes : 0;
    if (found.entry) {
        const uint64_t handle = found.entry->of;
        debit(ledger, found.entry);
        sc_ledger_index_drop(&ledger->index, found);
        unmap(ledger, handle);
    }
    give(ledger);
    return size_bytes;
}

/* ---- exports ---- */

static bool is_open(struct sc_ledger *ledger, const struct sc_ledger_export *export)
    SC_REQUIRES(ledger->lock)
{
    const struct sc_ledger_entry *entry =
        export->name ? find(ledger, export->space, export->name) : NULL;
    return entry && entry->is_exported;
}

/* Where the name's is listed, be it an older block's, or a place for another one; or NULL. */
static struct sc_ledger_export *find_export(struct sc_ledger *ledger, enum sc_ledger_space space,
                                            uint64_t name) SC_REQUIRES(ledger->lock)
{
    struct sc_ledger_export *room = NULL;
    for (unsigned i = 0; i < SC_LEDGER_EXPORTS; i++) {
        struct sc_ledger_export *export = &ledger->exports[i];
        if (export->space == space && export->name == name)
            return export;
        if (!room && !is_open(ledger, export))
            room = export;
    }
    return room;
}

void sc_ledger_exported(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                        uint64_t now_ns, uint32_t origin)
{
    take(ledger);
    struct sc_ledger_entry *entry = find(ledger, space, name);
    struct sc_ledger_export *export =
        entry && !entry->is_exported ? find_export(ledger, space, name) : NULL;
    if (export) {
        entry->is_exported = true;
        *export = (struct sc_ledger_export){.name = name,
                                            .size_bytes = entry->size_bytes,
                                            .since_ns = now_ns,
                                            .origin = origin,
                                            .space = entry->space,
                                            .kind = entry->kind,
                                            .place = entry->place};
    }
    give(ledger);
}

void sc_ledger_pool_exported(struct sc_ledger *ledger, uint64_t handle, uint64_t now_ns)
{
    take(ledger);
    struct sc_ledger_pool *pool = find_pool(ledger, handle);
    if (pool && !pool->exported_ns)
        pool->exported_ns = now_ns;
    give(ledger);
}

unsigned sc_ledger_list_exports(struct sc_ledger *ledger,
                                struct sc_ledger_export list[SC_LEDGER_EXPORTS])
{
    unsigned count = 0;
    take(ledger);
    for (unsigned i = 0; i < SC_LEDGER_EXPORTS; i++)
        if (is_open(ledger, &ledger->exports[i]))
            list[count++] = ledger->exports[i];
    give(ledger);
    return count;
}

/* ---- pools of the program's own ---- */

void sc_ledger_tell(struct sc_ledger *ledger, const struct sc_ledger_suballocator *told)
{
    unsigned i = 0;
    take(ledger);
    struct sc_ledger_suballocator *of = ledger->suballocators;
    while (i < SC_LEDGER_SUBALLOCATORS && of[i].owner[0] &&
           (of[i].place != told->place || strcmp(of[i].owner, told->owner) != 0))
        i++;
    if (i < SC_LEDGER_SUBALLOCATORS && (of[i].owner[0] || told->reserved_bytes))
        of[i] = *told;
    give(ledger);
}

unsigned sc_ledger_list_suballocators(struct sc_ledger *ledger,
                                      struct sc_ledger_suballocator list[SC_LEDGER_SUBALLOCATORS])
{
    unsigned count = 0;
    take(ledger);
    for (unsigned i = 0; i < SC_LEDGER_SUBALLOCATORS; i++)
        if (ledger->suballocators[i].reserved_bytes)
            list[count++] = ledger->suballocators[i];
    give(ledger);
    return count;
}

/* ---- held ---- */

void sc_ledger_hold(struct sc_ledger *ledger, uint64_t age, uint64_t size_bytes, uint32_t origin)
{
    sc_ledger_given(ledger, &(const struct sc_ledger_block){.space = SC_LEDGER_HOLD,
                                                            .kind = SC_LEDGER_HELD,
                                                            .name = age,
                                                            .size_bytes = size_bytes,
                                                            .origin = origin,
                                                            .place = SC_LEDGER_HOST});
}

void sc_ledger_let_go(struct sc_ledger *ledger, uint64_t age, uint64_t held_ns)
{
    take(ledger);
    struct sc_ledger_found found = sc_ledger_index_seek(&ledger->index, SC_LEDGER_HOLD, age);
    bool is_known = found.entry;
    if (is_known) {
        debit(ledger, found.entry);
        sc_ledger_index_drop(&ledger->index, found);
    }
    give(ledger);
    if (!is_known)
        return;
    uint64_t longest_ns = atomic_load(&ledger->longest_ns);
    while (held_ns > longest_ns &&
           !atomic_compare_exchange_weak(&ledger->longest_ns, &longest_ns, held_ns))
        continue;
}

void sc_ledger_settled(struct sc_ledger *ledger)
{
    atomic_fetch_add(&ledger->settled, 1);
}

/* ---- contexts ---- */

enum { CELLS_AT_ONCE = 1 << 10 };

static void end_context_in(struct sc_ledger *ledger, uint32_t *link, uint32_t context)
    SC_REQUIRES(ledger->lock)
{
    while (*link) {
        struct sc_ledger_entry *entry = sc_ledger_index_at(&ledger->index, *link);
        if (entry->context != context) {
            link = &entry->next;
            continue;
        }
        debit(ledger, entry);
        sc_ledger_index_drop(&ledger->index, (struct sc_ledger_found){entry, link});
    }
}

static void note_end(struct sc_ledger *ledger, uint32_t context)
{
    take(ledger);
    ledger->ended[ledger->ends++ % SC_LEDGER_ENDS] = context;
    give(ledger);
}

/* Cells that come meanwhile have entries of cells that were not looked at, or of such that were. */
void sc_ledger_end_context(struct sc_ledger *ledger, uint32_t context)
{
    uint32_t from = 0, end = context ? UINT32_MAX : 0;
    note_end(ledger, context);
    while (from < end) {
        take(ledger);
        end = ledger->index.cells;
        for (uint32_t i = 0; i < CELLS_AT_ONCE && from < end; i++)
            end_context_in(ledger, sc_ledger_index_cell(&ledger->index, from++), context);
        give(ledger);
    }
}

void sc_ledger_outlive(struct sc_ledger *ledger, unsigned place, bool is_reset)
{
    take(ledger);
    sc_accounts_outlive(&ledger->places[place], is_reset);
    give(ledger);
}
