/* What is held at one place (a device, or the host): by kind in all, and by who asked for it.
 *
 * An account is a kind and an origin (track/origins.h: a call and its stack). It stays when nothing
 * of it is held any more. What each account had when the place held most is kept by the first
 * change behind that moment, so that a peak costs nothing while it rises.
 *
 * All zero is nothing. The ledger's lock guards all of it. What there is no account for, for want
 * of memory, is the first one's: the sums are right all the same.
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
    struct sc_ledger_count all; /* of own kinds, whose blocks nobody adds up */
    uint64_t small_bytes;       /* of SC_LEDGER_DEVICE, in blocks that share granules; */
    uint64_t large_bytes;       /* and in others, with the rest of their last granule */
    uint32_t peak;              /* how many there were */
    uint32_t count;             /* of accounts behind the first */
    struct sc_account *at;      /* by their ids, the first for what has no other; NULL: none yet */
    struct sc_account only;     /* in their place where there is no memory for them */
    uint32_t cells[1 << SC_ACCOUNTS_SHIFT];
};

/* What the driver takes for memory of cuMemAlloc at least: up to 1 MB shares granules of 2 MB, more
 * has whole ones (docs/driver.md). */
uint64_t sc_accounts_backed(const struct sc_accounts *accounts);

/* The place has no context any more. What does not go with one stays. */
void sc_accounts_outlive(struct sc_accounts *accounts, bool is_reset);

/* How many of the account's blocks nobody gives back, when all destructors have run. 0: there are
 * none, or that may be meant: one block that is still held is a program's own for life, unless it
 * has outlived all contexts of its device. */
uint64_t sc_accounts_never_freed(const struct sc_account *account);

void sc_accounts_destroy(struct sc_accounts *accounts);

/* What the account has now. */
static inline uint64_t sc_account_bytes(const struct sc_account *account)
{
    return account->given_bytes - account->freed_bytes;
}

static inline uint64_t sc_account_blocks(const struct sc_account *account)
{
    return account->given_blocks - account->freed_blocks;
}

/* Bytes more. True: there were never so many. */
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

/* Bytes and a block more, or less. */
static inline void sc_accounts_count(struct sc_ledger_count *count, uint64_t size_bytes)
{
    count->blocks++;
    sc_accounts_rise(count, size_bytes);
}

static inline void sc_accounts_uncount(struct sc_ledger_count *count, uint64_t size_bytes)
{
    SC_ASSERT(count->bytes >= size_bytes && count->blocks > 0);
    count->bytes -= size_bytes;
    count->blocks--;
}

static inline uint32_t *sc_accounts_cell(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                                         uint32_t origin)
{
    uint32_t hash = (origin << 4 | (uint32_t)kind) * 2654435761u;
    return &accounts->cells[hash >> (32 - SC_ACCOUNTS_SHIFT)];
}

/* NULL: there is none. */
static inline struct sc_account *sc_accounts_look(struct sc_accounts *accounts,
                                                  enum sc_ledger_kind kind, uint32_t origin)
{
    for (uint32_t id = *sc_accounts_cell(accounts, kind, origin); id; id = accounts->at[id].next)
        if (accounts->at[id].origin == origin && accounts->at[id].kind == kind)
            return &accounts->at[id];
    return NULL;
}

/* The account, which is made where there is none; the first where there is no room. */
struct sc_account *sc_accounts_find(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                                    uint32_t origin);

void sc_accounts_count_backed(struct sc_accounts *accounts, uint64_t size_bytes, bool given);

/* Before it changes for the first time behind the latest peak. */
static inline void sc_accounts_keep_peak(const struct sc_accounts *accounts,
                                         struct sc_account *account)
{
    if (__builtin_expect(account->peak == accounts->peak, 1))
        return;
    account->peak = accounts->peak;
    account->peak_bytes = sc_account_bytes(account);
    account->peak_blocks = sc_account_blocks(account);
}

/* What the place has more. */
static inline void sc_accounts_add(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                                   uint64_t size_bytes)
{
    sc_accounts_count(&accounts->kinds[kind], size_bytes);
    if (kind == SC_LEDGER_DEVICE)
        sc_accounts_count_backed(accounts, size_bytes, true);
    if (kind < SC_LEDGER_OWN_KINDS && sc_accounts_rise(&accounts->all, size_bytes))
        accounts->peak++;
}

/* Given for the account. */
static inline void sc_accounts_credit(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                                      struct sc_account *account, uint64_t size_bytes)
{
    sc_accounts_keep_peak(accounts, account);
    account->given_bytes += size_bytes;
    account->given_blocks++;
    sc_accounts_add(accounts, kind, size_bytes);
}

/* Taken back, of the account for which it was given. */
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

/* The driver did not take it back. */
static inline void sc_accounts_restore(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                                       struct sc_account *account, uint64_t size_bytes)
{
    sc_accounts_keep_peak(accounts, account);
    account->freed_bytes -= size_bytes;
    account->freed_blocks--;
    sc_accounts_add(accounts, kind, size_bytes);
}

#endif
