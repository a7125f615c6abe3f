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

/* Takes the ledger's lock. Under it the index may be read and changed. */
static inline void lock_ledger(struct sc_ledger *ledger) SC_ACQUIRES(ledger->lock)
{
    sc_brief_lock_here_acquire(&ledger->lock);
    SC_GUARD(&ledger->index.entries, &ledger->lock);
}

/* Releases the ledger's lock. */
static inline void unlock_ledger(struct sc_ledger *ledger) SC_RELEASES(ledger->lock)
{
    sc_brief_lock_here_release(&ledger->lock);
}

/* Returns the accounts of the place. The address is computed once and hidden from the compiler,
 * which would otherwise compute it for each access. */
static inline struct sc_accounts *accounts_at(struct sc_ledger *ledger, unsigned place)
{
    struct sc_accounts *accounts = &ledger->places[place];
    __asm__("" : "+r"(accounts));
    return accounts;
}

/* ---- pools ---- */

/* Returns the record of the pool with this handle, NULL: not known. Destroyed pools are passed
 * over: the driver may give their handle to another. All are searched, since there are few. */
static struct sc_ledger_pool *find_pool(struct sc_ledger *ledger, uint64_t handle)
    SC_REQUIRES(ledger->lock)
{
    for (unsigned i = 0; handle && i < ledger->pools_ever; i++)
        if (ledger->pools[i].handle == handle && !ledger->pools[i].is_gone)
            return &ledger->pools[i];
    return NULL;
}

/* Returns a record for another pool: that of a destroyed one without memory in use (handle 0), or
 * one that was never used. NULL: all are taken. */
static struct sc_ledger_pool *find_room(struct sc_ledger *ledger) SC_REQUIRES(ledger->lock)
{
    for (unsigned i = 0; i < ledger->pools_ever; i++)
        if (ledger->pools[i].handle == 0)
            return &ledger->pools[i];
    return ledger->pools_ever < SC_LEDGER_POOLS ? &ledger->pools[ledger->pools_ever++] : NULL;
}

/* Enters a pool with its place, and returns its number. Another thread may have entered it
 * meanwhile; then that entry and its place count. 0: there is no room. */
unsigned sc_ledger_pool_met(struct sc_ledger *ledger, uint64_t handle, unsigned *place,
                            uint32_t origin, bool is_imported)
{
    lock_ledger(ledger);
    struct sc_ledger_pool *pool = find_pool(ledger, handle), *known = pool;
    if (!pool && (pool = find_room(ledger)) != NULL)
        *pool = (struct sc_ledger_pool){.handle = handle,
                                        .place = (uint8_t)*place,
                                        .origin = origin,
                                        .is_imported = is_imported};
    *place = known ? known->place : *place;
    unlock_ledger(ledger);
    return pool ? (unsigned)(pool - ledger->pools) + 1 : 0;
}

/* Returns the number of the pool with this handle, and its place; 0, and the place unchanged: not
 * known. */
unsigned sc_ledger_pool_number(struct sc_ledger *ledger, uint64_t handle, unsigned *place)
{
    lock_ledger(ledger);
    const struct sc_ledger_pool *pool = find_pool(ledger, handle);
    *place = pool ? pool->place : *place;
    unlock_ledger(ledger);
    return pool ? (unsigned)(pool - ledger->pools) + 1 : 0;
}

/* Frees the record of a pool that was destroyed, once its last block is freed: until then blocks
 * refer to its number. */
static void forget_if_over(struct sc_ledger_pool *pool)
{
    if (pool->is_gone && pool->used.blocks == 0)
        pool->handle = 0;
}

/* Notes that the pool was destroyed. It stays listed as long as memory of it is in use. */
void sc_ledger_pool_gone(struct sc_ledger *ledger, uint64_t handle)
{
    lock_ledger(ledger);
    struct sc_ledger_pool *pool = find_pool(ledger, handle);
    if (pool) {
        pool->is_gone = true;
        forget_if_over(pool);
    }
    unlock_ledger(ledger);
}

/* ---- blocks ---- */

/* Returns the entry of the block with this name; NULL: not known. */
static struct sc_ledger_entry *find_entry(struct sc_ledger *ledger, enum sc_ledger_space space,
                                          uint64_t name) SC_REQUIRES(ledger->lock)
{
    return sc_ledger_index_seek(&ledger->index, space, name).entry;
}

/* Adds the block to what its pool has in use. If the pool's record is freed (handle 0), the block
 * belongs to no known pool from now on. */
static inline void count_in_pool(struct sc_ledger *ledger, struct sc_ledger_entry *entry)
    SC_REQUIRES(ledger->lock)
{
    struct sc_ledger_pool *pool = entry->of ? &ledger->pools[entry->of - 1] : NULL;
    if (pool && pool->handle)
        sc_accounts_count(&pool->used, entry->size_bytes);
    else
        entry->of = 0;
}

/* Returns the account in which the block is counted: that of the call which allocated it. */
static inline struct sc_account *account_of(struct sc_accounts *accounts,
                                            const struct sc_ledger_entry *entry)
{
    return &accounts->at[entry->account];
}

/* Adds `more` (which may be negative) to the block's references. For physical memory its account
 * counts them as well, so that the report can say how many handles were not released. */
static void add_references(struct sc_ledger *ledger, struct sc_ledger_entry *entry, int32_t more)
    SC_REQUIRES(ledger->lock)
{
    entry->references += (uint32_t)more;
    if (entry->kind == SC_LEDGER_PHYSICAL)
        account_of(&ledger->places[entry->place], entry)->references += (uint64_t)(int64_t)more;
}

/* May such a block have several references? Physical memory has handles and mappings, and imported
 * memory may be opened several times; other blocks have a single owner. */
static bool is_shared(enum sc_ledger_space space, enum sc_ledger_kind kind)
{
    return space == SC_LEDGER_MEMORY || kind == SC_LEDGER_IMPORTED;
}

/* Subtracts the block from its account, and from what its pool has in use. It may be the last block
 * of a pool that was destroyed. */
static void debit_account(struct sc_ledger *ledger, const struct sc_ledger_entry *entry)
    SC_REQUIRES(ledger->lock)
{
    struct sc_accounts *accounts = accounts_at(ledger, entry->place);
    sc_accounts_debit(accounts, entry->kind, account_of(accounts, entry), entry->size_bytes);
    if (entry->kind != SC_LEDGER_POOLED || !entry->of)
        return;
    struct sc_ledger_pool *pool = &ledger->pools[entry->of - 1];
    sc_accounts_uncount(&pool->used, entry->size_bytes);
    forget_if_over(pool);
}

/* Returns where the block of this name lies: a device, or the host; -1: not known. */
int sc_ledger_place_of(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name)
{
    lock_ledger(ledger);
    const struct sc_ledger_entry *entry = find_entry(ledger, space, name);
    int place = entry ? entry->place : -1;
    unlock_ledger(ledger);
    return place;
}

/* Adds a reference to physical memory, for a further handle of it. False: the memory is not known.
 */
bool sc_ledger_add_reference(struct sc_ledger *ledger, uint64_t handle)
{
    lock_ledger(ledger);
    struct sc_ledger_entry *entry = find_entry(ledger, SC_LEDGER_MEMORY, handle);
    if (entry)
        add_references(ledger, entry, 1);
    unlock_ledger(ledger);
    return entry;
}

/* Notes a mapping of physical memory, which lives as long as a handle or a mapping of it. Memory is
 * mapped as a whole, so the first mapping shows how large imported memory is, whose size no call
 * tells; from then on it counts with that size. */
static void map_physical(struct sc_ledger *ledger, uint64_t handle, uint64_t size_bytes)
    SC_REQUIRES(ledger->lock)
{
    struct sc_ledger_entry *entry = find_entry(ledger, SC_LEDGER_MEMORY, handle);
    if (!entry)
        return;
    entry->mappings++;
    if (entry->size_bytes || entry->kind != SC_LEDGER_IMPORTED)
        return;
    struct sc_accounts *accounts = &ledger->places[entry->place];
    entry->size_bytes = size_bytes;
    sc_accounts_keep_peak(accounts, account_of(accounts, entry));
    account_of(accounts, entry)->given_bytes += size_bytes;
    sc_accounts_rise(&accounts->kinds[entry->kind], size_bytes);
}

/* Takes the block out of the ledger, whatever references it has. If it is a mapping, the memory
 * that it maps loses a mapping, and is taken out with the last one, unless a handle of it is left.
 */
static void drop(struct sc_ledger *ledger, struct sc_ledger_found found) SC_REQUIRES(ledger->lock)
{
    const struct sc_ledger_entry was = *found.entry;
    if (was.space == SC_LEDGER_MEMORY)
        add_references(ledger, found.entry, -(int32_t)was.references);
    debit_account(ledger, found.entry);
    sc_ledger_index_drop(&ledger->index, found);
    if (was.space != SC_LEDGER_MAPPING)
        return;
    found = sc_ledger_index_seek(&ledger->index, SC_LEDGER_MEMORY, was.of);
    if (found.entry && found.entry->mappings > 0)
        found.entry->mappings--;
    if (found.entry && !found.entry->references && !found.entry->mappings)
        drop(ledger, found);
}

/* Is the block imported memory that is open already? Then it is the same memory, which gets one
 * more reference. Returns whether it was. */
static bool count_if_open(struct sc_ledger *ledger, struct sc_ledger_entry *entry,
                          const struct sc_ledger_block *block) SC_REQUIRES(ledger->lock)
{
    bool is_open = block->kind == SC_LEDGER_IMPORTED && entry->kind == SC_LEDGER_IMPORTED;
    if (is_open)
        add_references(ledger, entry, 1);
    return is_open;
}

/* Fills in a new entry, whose name is set already, and adds the block to its account. `of` and the
 * counts of references lie in one union: a block has one or the other. */
static void fill_and_credit(struct sc_ledger *ledger, struct sc_ledger_entry *entry,
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
    entry->is_exported = entry->came_back = false;
    struct sc_account *account = sc_accounts_find(accounts, block->kind, block->origin);
    entry->account = account->id;
    sc_accounts_credit(accounts, block->kind, account, block->size_bytes);
    if (block->kind == SC_LEDGER_POOLED)
        count_in_pool(ledger, entry);
    else if (is_shared(block->space, block->kind))
        add_references(ledger, entry, 1);
}

/* Enters the block; returns its entry. NULL: there is no memory for one (which is counted), or
 * imported memory was known and got one more reference. Any other block of that name is taken out
 * first: it is gone, since the driver has given the address again. */
static struct sc_ledger_entry *add(struct sc_ledger *ledger, const struct sc_ledger_block *block)
    SC_REQUIRES(ledger->lock)
{
    struct sc_ledger_found found = sc_ledger_index_seek(&ledger->index, block->space, block->name);
    if (found.entry && count_if_open(ledger, found.entry, block))
        return NULL;
    if (found.entry) {
        drop(ledger, found);
        found = sc_ledger_index_seek(&ledger->index, block->space, block->name);
    }
    struct sc_ledger_entry *entry =
        found.link ? sc_ledger_index_add(&ledger->index, found.link, block->space, block->name)
                   : NULL;
    if (entry)
        fill_and_credit(ledger, entry, block);
    else
        ledger->sums[SC_LEDGER_UNRECORDED]++;
    if (block->space == SC_LEDGER_MAPPING)
        map_physical(ledger, block->of, block->size_bytes);
    return entry;
}

/* Enters a block that the driver has given the program. */
void sc_ledger_given(struct sc_ledger *ledger, const struct sc_ledger_block *block)
{
    lock_ledger(ledger);
    add(ledger, block);
    unlock_ledger(ledger);
}

/* ---- taken back ---- */

/* Returns the handle of the block's pool; 0: it has none. A handle and not a number: until the
 * driver answers a free, the number may become another pool's. */
static uint64_t pool_of(const struct sc_ledger *ledger, const struct sc_ledger_entry *entry)
    SC_REQUIRES(ledger->lock)
{
    return entry->kind == SC_LEDGER_POOLED && entry->of ? ledger->pools[entry->of - 1].handle : 0;
}

/* Takes one reference away from a block that the program frees, and takes the block out with the
 * last one. Stores in `leaving` what is needed to undo that if the driver refuses. False: there is
 * only a mapping left, which no handle can release. */
static bool release_reference(struct sc_ledger *ledger, struct sc_ledger_found found,
                              struct sc_ledger_leaving *leaving) SC_REQUIRES(ledger->lock)
{
    struct sc_ledger_entry *entry = found.entry;
    bool shared = is_shared(entry->space, entry->kind);
    if (shared && entry->references == 0)
        return false;
    if (shared)
        add_references(ledger, entry, -1);
    leaving->was = *entry;
    leaving->ends = ledger->ends;
    leaving->strays = ledger->strays_ever;
    leaving->pool = pool_of(ledger, entry);
    if (!shared || !(entry->references || entry->mappings))
        drop(ledger, found);
    return true;
}

/* Does what sc_ledger_leaves does, for callers that hold the lock, which is released here. If no
 * block is known by the name, `leaving` is emptied, unless it has the block of that name from an
 * earlier call, as in a replay before and after one call. */
static bool begin_leaving(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                          struct sc_ledger_leaving *leaving) SC_RELEASES(ledger->lock)
{
    struct sc_ledger_found found = sc_ledger_index_seek(&ledger->index, space, name);
    bool is_known = found.entry && release_reference(ledger, found, leaving);
    unlock_ledger(ledger);
    if (!is_known && leaving->was.name != name)
        leaving->was.name = 0;
    return is_known;
}

/* Called before the driver frees the block: takes it out, with what is needed to enter it again in
 * `leaving`. False: no such block is known. */
bool sc_ledger_leaves(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                      struct sc_ledger_leaving *leaving)
{
    lock_ledger(ledger);
    return begin_leaving(ledger, space, name, leaving);
}

/* ---- memory of pools, as programs ask for it most ----
 *
 * A program that allocates and frees in turn gets the same addresses: the entry of one that it has
 * freed rests where it is. A function that calls nothing need not keep registers, so what else
 * there is to do is left to another function at the end. */

/* Enters a pool's block at an address whose former entry cannot be used again. The caller holds the
 * lock, which is released here: the quick caller then need not keep any registers. */
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
    unlock_ledger(ledger);
}

/* Waits for the lock, which another thread has, and then enters the pool's block. */
static __attribute__((noinline)) void give_of_pool_behind_others(struct sc_ledger *ledger,
                                                                 uint64_t name, uint64_t size_bytes,
                                                                 unsigned pool, unsigned place,
                                                                 uint32_t origin)
{
    sc_brief_lock_here_await(&ledger->lock);
    give_of_pool(ledger, name, size_bytes, pool, place, origin);
}

/* Moves the entry of a freed block, which the pool gives again, to the account of the call (origin)
 * that gets it now. NULL: that call has no account yet. */
static inline struct sc_account *change_account(struct sc_accounts *accounts,
                                                struct sc_ledger_entry *entry, uint32_t origin)
{
    struct sc_account *account = sc_accounts_look(accounts, SC_LEDGER_POOLED, origin);
    if (account)
        entry->account = account->id;
    return account;
}

/* Enters a pool's block. A program that allocates and frees in turn gets the same addresses: the
 * entry of the freed block rests, and is used again if it is of the same pool and place and the
 * call has an account. That calls no function. Otherwise the block is entered as any other. */
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
    if (!account || !pool->handle) {
        give_of_pool(ledger, name, size_bytes, number, place, origin);
        return;
    }
    entry->kind = SC_LEDGER_POOLED;
    entry->size_bytes = size_bytes;
    sc_accounts_credit(accounts, SC_LEDGER_POOLED, account, size_bytes);
    sc_accounts_count(&pool->used, size_bytes);
    unlock_ledger(ledger);
}

/* Takes out a block that the table of latest entries does not have, and numbers the free. The
 * caller holds the lock, which is released here. */
static __attribute__((noinline)) bool leave_of_pool(struct sc_ledger *ledger, uint64_t name,
                                                    struct sc_ledger_leaving *leaving,
                                                    uint64_t *number) SC_RELEASES(ledger->lock)
{
    leaving->was.name = 0;
    *number = ++ledger->frees;
    return begin_leaving(ledger, SC_LEDGER_ADDRESS, name, leaving);
}

/* Waits for the lock, which another thread has, and then takes the block out and numbers the free.
 */
static __attribute__((noinline)) bool leave_behind_others(struct sc_ledger *ledger, uint64_t name,
                                                          struct sc_ledger_leaving *leaving,
                                                          uint64_t *number)
{
    sc_brief_lock_here_await(&ledger->lock);
    return leave_of_pool(ledger, name, leaving, number);
}

/* Called before cuMemFreeAsync. Takes a pool's block out, and numbers the free. If its entry is the
 * latest for the address, it stays where it is and rests, for the next block at that address. Not
 * if the block is listed as exported, or its pool is destroyed: that needs more work. */
bool sc_ledger_leaves_of_pool(struct sc_ledger *ledger, uint64_t name,
                              struct sc_ledger_leaving *leaving, uint64_t *number) SC_UNFOLLOWED
{
    if (!sc_brief_lock_here_try(&ledger->lock))
        return leave_behind_others(ledger, name, leaving, number);
    struct sc_ledger_entry *entry = *sc_ledger_index_latest(&ledger->index, name);
    bool is_quick = entry && entry->name == name && entry->kind == SC_LEDGER_POOLED && entry->of &&
                    !entry->is_exported;
    struct sc_ledger_pool *pool = is_quick ? &ledger->pools[entry->of - 1] : NULL;
    if (!is_quick || pool->is_gone)
        return leave_of_pool(ledger, name, leaving, number);
    struct sc_accounts *accounts = accounts_at(ledger, entry->place);
    uint64_t size_bytes = entry->size_bytes;
    leaving->was = *entry;
    leaving->pool = pool->handle;
    *number = ++ledger->frees;
    leaving->strays = ledger->strays_ever;
    entry->kind = SC_LEDGER_RESTS;
    sc_accounts_debit(accounts, SC_LEDGER_POOLED, account_of(accounts, entry), size_bytes);
    sc_accounts_uncount(&pool->used, size_bytes);
    unlock_ledger(ledger);
    return true;
}

/* Returns the next number of a free, by which the frees of all threads are put in one order. */
uint64_t sc_ledger_number_free(struct sc_ledger *ledger)
{
    lock_ledger(ledger);
    uint64_t number = ++ledger->frees;
    unlock_ledger(ledger);
    return number;
}

/* Raises one of the counts of the whole process by one, and returns it. */
uint64_t sc_ledger_count(struct sc_ledger *ledger, enum sc_ledger_sum what)
{
    lock_ledger(ledger);
    uint64_t count = ++ledger->sums[what];
    unlock_ledger(ledger);
    return count;
}

/* Has the block's context ended since the block was taken out? The latest ends are remembered. Such
 * a block is not entered again. */
static bool is_over(const struct sc_ledger *ledger, const struct sc_ledger_leaving *leaving)
    SC_REQUIRES(ledger->lock)
{
    for (unsigned i = leaving->ends; leaving->was.context && i != ledger->ends; i++)
        if (ledger->ended[i % SC_LEDGER_ENDS] == leaving->was.context)
            return true;
    return false;
}

/* Enters a block again, with the members that it had, since the driver has not freed it. It may
 * have been the last block of a pool that was destroyed: then the pool's record was freed, and is
 * in use again. If another pool has that record by now, the block belongs to no known pool. Without
 * memory for an entry the block stays out. */
static void put_back(struct sc_ledger *ledger, uint32_t *link,
                     const struct sc_ledger_leaving *leaving) SC_REQUIRES(ledger->lock)
{
    const struct sc_ledger_entry *was = &leaving->was;
    struct sc_accounts *accounts = &ledger->places[was->place];
    struct sc_ledger_entry *entry =
        sc_ledger_index_add(&ledger->index, link, was->space, was->name);
    if (!entry)
        return;
    uint32_t next = entry->next;
    *entry = *was;
    entry->next = next;
    entry->came_back = true;
    if (is_shared(was->space, was->kind))
        add_references(ledger, entry, 1);
    if (was->kind == SC_LEDGER_POOLED && was->of && !ledger->pools[was->of - 1].handle)
        ledger->pools[was->of - 1].handle = leaving->pool;
    if (pool_of(ledger, was) != leaving->pool)
        entry->of = 0;
    sc_accounts_restore(accounts, was->kind, account_of(accounts, was), was->size_bytes);
    if (was->kind == SC_LEDGER_POOLED)
        count_in_pool(ledger, entry);
}

/* Called when the driver has freed memory of which the ledger had no block before the call. Two
 * threads may free one block: the first has taken it out, and the driver's refusal of that free has
 * put it back (came_back) before this. Then the block leaves now. Else the free is counted, and the
 * address remembered, as the refusal may still come (was_freed). */
void sc_ledger_freed_unknown(struct sc_ledger *ledger, uint64_t name)
{
    lock_ledger(ledger);
    struct sc_ledger_found found = sc_ledger_index_seek(&ledger->index, SC_LEDGER_ADDRESS, name);
    if (found.entry && found.entry->came_back) {
        drop(ledger, found);
    } else {
        ledger->sums[SC_LEDGER_UNKNOWN_FREES]++;
        ledger->strays[ledger->strays_ever++ % SC_LEDGER_STRAYS] = name;
    }
    unlock_ledger(ledger);
}

/* Has another thread freed the block since it left? The driver refuses one of two such frees; the
 * other one found no block and is remembered as a stray, which is explained now and counts no
 * longer. */
static bool was_freed(struct sc_ledger *ledger, const struct sc_ledger_leaving *leaving)
    SC_REQUIRES(ledger->lock)
{
    uint32_t count = ledger->strays_ever - leaving->strays;
    for (uint32_t i = 1; i <= count && i <= SC_LEDGER_STRAYS; i++) {
        uint64_t *stray = &ledger->strays[(ledger->strays_ever - i) % SC_LEDGER_STRAYS];
        if (leaving->was.space == SC_LEDGER_ADDRESS && *stray == leaving->was.name) {
            *stray = 0;
            ledger->sums[SC_LEDGER_UNKNOWN_FREES]--;
            return true;
        }
    }
    return false;
}

/* Called when the driver has refused a free: enters the block again, or gives it back the reference
 * that it lost. Not if another block has the name by now, the context has ended, or another thread
 * has freed the block. */
void sc_ledger_refused(struct sc_ledger *ledger, const struct sc_ledger_leaving *leaving)
{
    const struct sc_ledger_entry *was = &leaving->was;
    bool is_there = is_shared(was->space, was->kind) && (was->references || was->mappings);
    if (!was->name)
        return;
    lock_ledger(ledger);
    struct sc_ledger_found found = sc_ledger_index_seek(&ledger->index, was->space, was->name);
    if (found.entry)
        add_references(ledger, found.entry, is_there);
    else if (!is_there && found.link && !is_over(ledger, leaving) && !was_freed(ledger, leaving))
        put_back(ledger, found.link, leaving);
    unlock_ledger(ledger);
}

/* ---- exports ---- */

/* Returns the record in the list of exports for a block of this name: the one that has the name
 * already, or one whose block is gone. NULL: all are taken. */
static struct sc_ledger_export *find_export(struct sc_ledger *ledger, enum sc_ledger_space space,
                                            uint64_t name) SC_REQUIRES(ledger->lock)
{
    struct sc_ledger_export *room = NULL;
    for (unsigned i = 0; i < SC_LEDGER_EXPORTS; i++) {
        struct sc_ledger_export *export = &ledger->exports[i];
        if (export->space == space && export->name == name)
            return export;
        if (!room && !sc_ledger_export_is_open(ledger, export))
            room = export;
    }
    return room;
}

/* Notes that the program has made a handle of the block for other processes, with the call that did
 * so. Each block is listed once, with its first such call; if the list is full it is left out. */
void sc_ledger_exported(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                        uint64_t now_ns, uint32_t origin)
{
    lock_ledger(ledger);
    struct sc_ledger_entry *entry = find_entry(ledger, space, name);
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
    unlock_ledger(ledger);
}

/* Notes when the program first made a handle of the pool for other processes. */
void sc_ledger_pool_exported(struct sc_ledger *ledger, uint64_t handle, uint64_t now_ns)
{
    lock_ledger(ledger);
    struct sc_ledger_pool *pool = find_pool(ledger, handle);
    if (pool && !pool->exported_ns)
        pool->exported_ns = now_ns;
    unlock_ledger(ledger);
}

/* ---- pools of the program's own ---- */

/* Stores what a library has reported of its own pool: one record for each owner and place. A record
 * without reserved memory may be used again. A report for which there is no room is dropped. */
void sc_ledger_note_suballocator(struct sc_ledger *ledger,
                                 const struct sc_ledger_suballocator *told)
{
    struct sc_ledger_suballocator *one = NULL;
    lock_ledger(ledger);
    for (unsigned i = 0; i < SC_LEDGER_SUBALLOCATORS; i++) {
        struct sc_ledger_suballocator *at = &ledger->suballocators[i];
        bool is_own = at->place == told->place && strcmp(at->owner, told->owner) == 0;
        if (is_own || (!one && !at->reserved_bytes))
            one = at;
        if (is_own)
            break;
    }
    if (one)
        *one = *told;
    unlock_ledger(ledger);
}

/* ---- held ---- */

/* Counts host memory that the program has freed while the device used it, and that the library
 * keeps until then. `age` is the number of that hold, by which the memory is found. */
void sc_ledger_hold(struct sc_ledger *ledger, uint64_t age, uint64_t size_bytes, uint32_t origin)
{
    sc_ledger_given(ledger, &(const struct sc_ledger_block){.space = SC_LEDGER_HOLD,
                                                            .kind = SC_LEDGER_HELD,
                                                            .name = age,
                                                            .size_bytes = size_bytes,
                                                            .origin = origin,
                                                            .place = SC_LEDGER_HOST});
}

/* Takes out memory that was kept after its free (a hold), when it is really freed; remembers the
 * longest time that any was kept. */
void sc_ledger_let_go(struct sc_ledger *ledger, uint64_t age, uint64_t held_ns)
{
    struct sc_ledger_leaving gone = {.was.name = 0};
    bool is_known = sc_ledger_leaves(ledger, SC_LEDGER_HOLD, age, &gone);
    lock_ledger(ledger);
    if (is_known && held_ns > ledger->sums[SC_LEDGER_LONGEST_NS])
        ledger->sums[SC_LEDGER_LONGEST_NS] = held_ns;
    unlock_ledger(ledger);
}

/* Counts page-locked memory that the library has for itself; 0 bytes: it is freed. */
void sc_ledger_keep(struct sc_ledger *ledger, uint64_t address, uint64_t size_bytes)
{
    struct sc_ledger_leaving gone = {.was.name = 0};
    if (size_bytes)
        sc_ledger_given(ledger, &(const struct sc_ledger_block){.space = SC_LEDGER_ADDRESS,
                                                                .kind = SC_LEDGER_OURS,
                                                                .name = address,
                                                                .size_bytes = size_bytes,
                                                                .place = SC_LEDGER_HOST});
    else
        sc_ledger_leaves(ledger, SC_LEDGER_ADDRESS, address, &gone);
}

/* ---- contexts ---- */

enum { CELLS_AT_ONCE = 1 << 10 };

/* Takes the blocks of an ended context out of one chain of the index. */
static void end_context_in(struct sc_ledger *ledger, uint32_t *link, uint32_t context)
    SC_REQUIRES(ledger->lock)
{
    while (*link) {
        struct sc_ledger_entry *entry = sc_ledger_index_at(&ledger->index, *link);
        if (entry->context != context) {
            link = &entry->next;
            continue;
        }
        drop(ledger, (struct sc_ledger_found){entry, link});
    }
}

/* Remembers that the context has ended, before its blocks are taken out: a block of it that leaves
 * meanwhile must not be put back. */
static void note_end(struct sc_ledger *ledger, uint32_t context)
{
    lock_ledger(ledger);
    ledger->ended[ledger->ends++ % SC_LEDGER_ENDS] = context;
    unlock_ledger(ledger);
}

/* Takes out all blocks that have ended with the context (0: none). Releases the lock after every
 * CELLS_AT_ONCE cells, so that no other thread waits long. A cell that is added meanwhile gets its
 * entries from an earlier cell, in which none of this context is left. */
void sc_ledger_end_context(struct sc_ledger *ledger, uint32_t context)
{
    uint32_t from = 0, end = context ? UINT32_MAX : 0;
    note_end(ledger, context);
    while (from < end) {
        lock_ledger(ledger);
        end = ledger->index.cells;
        for (uint32_t i = 0; i < CELLS_AT_ONCE && from < end; i++)
            end_context_in(ledger, sc_ledger_index_cell(&ledger->index, from++), context);
        unlock_ledger(ledger);
    }
}

/* Notes that the device has no context any more: what its accounts still have has outlived the
 * contexts. */
void sc_ledger_note_outlived(struct sc_ledger *ledger, unsigned place, bool is_reset)
{
    lock_ledger(ledger);
    sc_accounts_note_outlived(&ledger->places[place], is_reset);
    unlock_ledger(ledger);
}
