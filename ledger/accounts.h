/* What is held at one place (a device, or the host): by kind in all, and by who asked for it.
 *
 * An account is a kind and an origin (track/origins.h: a call and its stack). It stays when nothing
 * of it is held any more. What each account had when the place held most is kept by the first
 * change behind that moment, so that a peak costs nothing while it rises.
 *
 * All zero is nothing. The ledger's lock guards all of it. Without memory for another account the
 * sums are right all the same.
 */
#ifndef SC_LEDGER_ACCOUNTS_H
#define SC_LEDGER_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/ledger_words.h"
#include "track/pool.h"

enum { SC_ACCOUNTS_CELLS = 1024, SC_ACCOUNTS_MAX = 1 << 16 };

struct sc_accounts {
    struct sc_ledger_count kinds[SC_LEDGER_KINDS];
    struct sc_ledger_count all;                    /* of own kinds */
    uint64_t small_bytes; /* of SC_LEDGER_DEVICE, in blocks that share granules; */
    uint64_t large_bytes; /* and in others, with the rest of their last granule */
    uint32_t peak;        /* how many there were */
    struct sc_pool accounts;
    uint32_t cells[SC_ACCOUNTS_CELLS];
};

/* Given: the account's id, 0 without one. And given once more: the driver did not take it back. */
uint32_t sc_accounts_credit(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t origin,
                            uint64_t size_bytes);
void sc_accounts_restore(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t account,
                         uint64_t size_bytes);

/* Taken back: of the account that the credit returned. */
void sc_accounts_debit(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t account,
                       uint64_t size_bytes);

/* A block turns out to be larger, of a kind that is not the process's own. */
void sc_accounts_grow(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t account,
                      uint64_t size_bytes);

/* What the driver takes for memory of cuMemAlloc at least: up to 1 MB shares granules of 2 MB, more
 * has whole ones (docs/driver.md). */
uint64_t sc_accounts_backed(const struct sc_accounts *accounts);

/* What the account had when its place held most. */
uint64_t sc_accounts_peak_bytes(const struct sc_accounts *accounts,
                                const struct sc_account *account);
uint64_t sc_accounts_peak_blocks(const struct sc_accounts *accounts,
                                 const struct sc_account *account);

struct sc_account *sc_accounts_at(struct sc_accounts *accounts, uint32_t account);
void sc_accounts_destroy(struct sc_accounts *accounts);

/* For counts of other things: bytes and a block more, or less. */
void sc_accounts_count(struct sc_ledger_count *count, uint64_t size_bytes);
void sc_accounts_uncount(struct sc_ledger_count *count, uint64_t size_bytes);

#endif
