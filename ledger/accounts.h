/* The sums of what the process holds at one place (a device, or the host): for each kind of memory,
 * and for each call that allocated it. The ledger (ledger.h) has one struct sc_accounts for each
 * place.
 *
 * An account is a kind and an origin (track/origins.h: a call and its stack), and what that call
 * holds. It stays when all of its memory was freed. Each account also keeps what it held when the
 * place held most. That figure is stored at the account's first change after the peak, so a rising
 * peak costs nothing.
 *
 * A zeroed struct is empty. Locks: the ledger's lock guards every function. If there is no memory
 * for a further account, the first account gets its bytes, so the sums of the place stay right. */

/* Terms (docs/glossary.md):
 *   account: what one call stack has of one kind of memory at one place
 *   ledger: which memory the process has, and which call stack asked for it
 *   origin: the call that made a buffer or a stream, with its stack
 */

#ifndef SC_LEDGER_ACCOUNTS_H
#define SC_LEDGER_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"
#include "common/ticks.h"
#include "ledger/ledger_words.h"

enum { SC_ACCOUNTS_SHIFT = 10, SC_ACCOUNTS_MAX = 1 << 16 };

struct sc_accounts {
    struct sc_ledger_count kinds[SC_LEDGER_KINDS];
    /* of the kinds that are added up (SC_LEDGER_OWN_KINDS), without their blocks */
    struct sc_ledger_count all;
    /* SC_LEDGER_DEVICE: the bytes of blocks that share granules of 2 MB with others */
    uint64_t small_bytes;
    uint64_t large_bytes; /* and of larger blocks, rounded up to granules */
    uint32_t peak;        /* how often the place has reached a new peak */
    uint32_t count;       /* how many accounts there are besides the first */
    /* the accounts by their ids; the first is for memory that has no other; NULL: none yet */
    struct sc_account *at;
    struct sc_account only; /* used as the first account if there is no memory for any */
    uint32_t cells[1 << SC_ACCOUNTS_SHIFT];
};

/* Returns how many bytes of the device the driver takes at least for the place's memory of
 * cuMemAlloc, in whole granules of 2 MB: blocks of up to 1 MB share granules, larger ones do not
 * (docs/driver.md). */
uint64_t sc_accounts_backed(const struct sc_accounts *accounts);

/* Called when the device's last context has ended, and the memory of that context was taken out of
 * the accounts. What is left, which belongs to no context, has outlived its contexts: it counts as
 * never freed unless the program frees it still. After a reset of the device (`is_reset`) it need
 * not be freed. */
void sc_accounts_note_outlived(struct sc_accounts *accounts, bool is_reset);

/* Returns how many blocks of the account were never freed; to be asked when the process ends and
 * all destructors have run. Returns 0 also if that may be meant: a program may keep a single block
 * until its end, unless the block has outlived all contexts of its device. */
uint64_t sc_accounts_never_freed(const struct sc_account *account);

/* Frees the list of accounts, and makes the struct empty: for copies that are made for a report. */
void sc_accounts_destroy(struct sc_accounts *accounts);

/* Returns how many bytes the process holds now of what the account's call has allocated. */
static inline uint64_t sc_account_bytes(const struct sc_account *account)
{
    return account->given_bytes - account->freed_bytes;
}

/* Returns how many blocks the process holds now of those that the account's call has allocated. */
static inline uint64_t sc_account_blocks(const struct sc_account *account)
{
    return account->given_blocks - account->freed_blocks;
}

/* Adds the bytes to the count, without a block. Returns true if the count is higher than ever
 * before; the time of that is noted, too. */
static inline bool sc_accounts_rise(struct sc_ledger_count *count, uint64_t size_bytes)
{
    const uint64_t bytes = count->bytes + size_bytes;
    count->bytes = bytes;
    if (__builtin_expect(bytes <= count->peak_bytes, 1))
        return false;
    count->peak_bytes = bytes;
    count->peak_ticks = sc_ticks();
    return true;
}

/* Adds a block of this size to the count; sc_accounts_uncount subtracts one. */
static inline void sc_accounts_count(struct sc_ledger_count *count, uint64_t size_bytes)
{
    count->blocks++;
    sc_accounts_rise(count, size_bytes);
}

/* Subtracts a block of this size from the count. */
static inline void sc_accounts_uncount(struct sc_ledger_count *count, uint64_t size_bytes)
{
    SC_ASSERT(count->bytes >= size_bytes && count->blocks > 0);
    count->bytes -= size_bytes;
    count->blocks--;
}

/* Returns the head of the hash chain in which the account of this kind and call (origin) must be.
 */
static inline uint32_t *sc_accounts_cell(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                                         uint32_t origin)
{
    uint32_t hash = (origin << 4 | (uint32_t)kind) * 2654435761u;
    return &accounts->cells[hash >> (32 - SC_ACCOUNTS_SHIFT)];
}

/* Returns the account of this kind of memory and this call with its stack (origin); NULL: there is
 * none yet. */
static inline struct sc_account *sc_accounts_look(struct sc_accounts *accounts,
                                                  enum sc_ledger_kind kind, uint32_t origin)
{
    for (uint32_t id = *sc_accounts_cell(accounts, kind, origin); id; id = accounts->at[id].next)
        if (accounts->at[id].origin == origin && accounts->at[id].kind == kind)
            return &accounts->at[id];
    return NULL;
}

/* Returns the account of this kind of memory and this call with its stack (origin), made if there
 * is none; the place's first account if there is no room for another one. */
struct sc_account *sc_accounts_find(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                                    uint32_t origin);

/* Counts a block of cuMemAlloc (`given`, else freed) in what the driver takes for such blocks, in
 * granules of 2 MB. */
void sc_accounts_count_backed(struct sc_accounts *accounts, uint64_t size_bytes, bool given);

/* Stores what the account held when the place held most, if there was a new peak since the account
 * last changed. Called before each change of the account: until then its present figures are those
 * of the peak. */
static inline void sc_accounts_keep_peak(const struct sc_accounts *accounts,
                                         struct sc_account *account)
{
    if (__builtin_expect(account->peak == accounts->peak, 1))
        return;
    account->peak = accounts->peak;
    account->peak_bytes = sc_account_bytes(account);
    account->peak_blocks = sc_account_blocks(account);
}

/* Adds a block to the sums of the place, and to no account. Only the first kinds are memory of the
 * process at that place, and count in `all`. */
static inline void sc_accounts_add(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                                   uint64_t size_bytes)
{
    sc_accounts_count(&accounts->kinds[kind], size_bytes);
    if (kind == SC_LEDGER_DEVICE)
        sc_accounts_count_backed(accounts, size_bytes, true);
    if (kind < SC_LEDGER_OWN_KINDS && sc_accounts_rise(&accounts->all, size_bytes))
        accounts->peak++;
}

/* Adds a block to its account (all memory of one kind that one call has allocated), and to the sums
 * of the place (a device, or the host). What the account held at the place's peak is stored before
 * that. */
static inline void sc_accounts_credit(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                                      struct sc_account *account, uint64_t size_bytes)
{
    sc_accounts_keep_peak(accounts, account);
    account->given_bytes += size_bytes;
    account->given_blocks++;
    sc_accounts_add(accounts, kind, size_bytes);
}

/* Subtracts a block that was freed from its account (all memory of one kind that one call has
 * allocated), and from the sums of the place (a device, or the host). Only the first kinds are
 * memory of the process at that place, and count in `all`. */
static inline void sc_accounts_debit(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                                     struct sc_account *account, uint64_t size_bytes)
{
    SC_ASSERT(sc_account_bytes(account) >= size_bytes && sc_account_blocks(account) > 0);
    sc_accounts_keep_peak(accounts, account);
    account->freed_bytes += size_bytes;
    account->freed_blocks++;
    sc_accounts_uncount(&accounts->kinds[kind], size_bytes);
    if (kind == SC_LEDGER_DEVICE)
        sc_accounts_count_backed(accounts, size_bytes, false);
    if (kind < SC_LEDGER_OWN_KINDS)
        accounts->all.bytes -= size_bytes;
}

/* Undoes sc_accounts_debit, since the driver has refused to free the block. */
static inline void sc_accounts_restore(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                                       struct sc_account *account, uint64_t size_bytes)
{
    sc_accounts_keep_peak(accounts, account);
    account->freed_bytes -= size_bytes;
    account->freed_blocks--;
    sc_accounts_add(accounts, kind, size_bytes);
}

#endif
