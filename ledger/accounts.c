#include "ledger/accounts.h"

#include <stddef.h>
#include <string.h>

#include "track/checks.h"
#include "track/ticks.h"

#include "track/poison.h"

enum { SMALL_BYTES = 1 << 20, GRANULE_BYTES = 2 << 20 };

static uint64_t in_granules(uint64_t size_bytes)
{
    return (size_bytes + GRANULE_BYTES - 1) & ~(uint64_t)(GRANULE_BYTES - 1);
}

struct sc_account *sc_accounts_at(struct sc_accounts *accounts, uint32_t account)
{
    return sc_pool_at(&accounts->accounts, account);
}

/* ---- counts ---- */

void sc_accounts_count(struct sc_ledger_count *count, uint64_t size_bytes)
{
    count->bytes += size_bytes;
    count->blocks++;
    if (count->bytes <= count->peak_bytes)
        return;
    count->peak_bytes = count->bytes;
    count->peak_ticks = sc_ticks();
}

void sc_accounts_uncount(struct sc_ledger_count *count, uint64_t size_bytes)
{
    SC_ASSERT(count->bytes >= size_bytes && count->blocks > 0);
    count->bytes -= size_bytes;
    count->blocks--;
}

static void count_backed(struct sc_accounts *accounts, uint64_t size_bytes, bool given)
{
    uint64_t *sum = size_bytes <= SMALL_BYTES ? &accounts->small_bytes : &accounts->large_bytes;
    uint64_t backed = size_bytes <= SMALL_BYTES ? size_bytes : in_granules(size_bytes);
    SC_ASSERT(given || *sum >= backed);
    *sum += given ? backed : -backed;
}

uint64_t sc_accounts_backed(const struct sc_accounts *accounts)
{
    return accounts->large_bytes + in_granules(accounts->small_bytes);
}

static void count(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint64_t size_bytes)
{
    sc_accounts_count(&accounts->kinds[kind], size_bytes);
    if (kind == SC_LEDGER_DEVICE)
        count_backed(accounts, size_bytes, true);
    if (kind >= SC_LEDGER_OWN_KINDS)
        return;
    uint64_t peak_bytes = accounts->all.peak_bytes;
    sc_accounts_count(&accounts->all, size_bytes);
    accounts->peak += accounts->all.peak_bytes != peak_bytes;
}

/* ---- accounts ---- */

/* Before it changes for the first time behind the latest peak. */
static void keep_peak(const struct sc_accounts *accounts, struct sc_account *account)
{
    if (account->peak == accounts->peak)
        return;
    account->peak = accounts->peak;
    account->peak_bytes = account->bytes;
    account->peak_blocks = account->blocks;
}

uint64_t sc_accounts_peak_bytes(const struct sc_accounts *accounts,
                                const struct sc_account *account)
{
    return account->peak == accounts->peak ? account->peak_bytes : account->bytes;
}

uint64_t sc_accounts_peak_blocks(const struct sc_accounts *accounts,
                                 const struct sc_account *account)
{
    return account->peak == accounts->peak ? account->peak_blocks : account->blocks;
}

static uint32_t *cell_of(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t origin)
{
    uint32_t hash = (origin * 2654435761u) ^ (uint32_t)kind * 0x9E3779B9u;
    return &accounts->cells[(hash >> 12 ^ hash) % SC_ACCOUNTS_CELLS];
}

static uint32_t make(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t origin)
{
    if (!accounts->accounts.record_bytes)
        sc_pool_init(&accounts->accounts, sizeof(struct sc_account));
    uint32_t id = accounts->accounts.live < SC_ACCOUNTS_MAX ? sc_pool_take(&accounts->accounts) : 0;
    if (!id)
        return 0;
    struct sc_account *account = sc_accounts_at(accounts, id);
    uint32_t *cell = cell_of(accounts, kind, origin);
    *account = (struct sc_account){
        .origin = origin, .kind = (uint8_t)kind, .next = *cell, .peak = accounts->peak};
    *cell = id;
    return id;
}

static uint32_t find(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t origin)
{
    uint32_t id = *cell_of(accounts, kind, origin);
    while (id) {
        const struct sc_account *account = sc_accounts_at(accounts, id);
        if (account->origin == origin && account->kind == kind)
            return id;
        id = account->next;
    }
    return make(accounts, kind, origin);
}

static void add(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t id,
                uint64_t size_bytes, bool fresh)
{
    struct sc_account *account = id ? sc_accounts_at(accounts, id) : NULL;
    if (account) {
        keep_peak(accounts, account);
        account->bytes += size_bytes;
        account->blocks++;
        account->ever_bytes += fresh ? size_bytes : 0;
        account->ever_blocks += fresh;
    }
    count(accounts, kind, size_bytes);
}

uint32_t sc_accounts_credit(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t origin,
                            uint64_t size_bytes)
{
    uint32_t id = find(accounts, kind, origin);
    add(accounts, kind, id, size_bytes, true);
    return id;
}

void sc_accounts_restore(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t account,
                         uint64_t size_bytes)
{
    add(accounts, kind, account, size_bytes, false);
}

void sc_accounts_grow(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t account,
                      uint64_t size_bytes)
{
    SC_ASSERT(kind >= SC_LEDGER_OWN_KINDS);
    if (account) {
        keep_peak(accounts, sc_accounts_at(accounts, account));
        sc_accounts_at(accounts, account)->bytes += size_bytes;
        sc_accounts_at(accounts, account)->ever_bytes += size_bytes;
    }
    sc_accounts_count(&accounts->kinds[kind], size_bytes);
    accounts->kinds[kind].blocks--;
}

void sc_accounts_debit(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t account,
                       uint64_t size_bytes)
{
    if (account) {
        struct sc_account *of = sc_accounts_at(accounts, account);
        keep_peak(accounts, of);
        SC_ASSERT(of->bytes >= size_bytes && of->blocks > 0);
        of->bytes -= size_bytes;
        of->blocks--;
    }
    sc_accounts_uncount(&accounts->kinds[kind], size_bytes);
    if (kind == SC_LEDGER_DEVICE)
        count_backed(accounts, size_bytes, false);
    if (kind < SC_LEDGER_OWN_KINDS)
        sc_accounts_uncount(&accounts->all, size_bytes);
}

void sc_accounts_destroy(struct sc_accounts *accounts)
{
    sc_pool_destroy(&accounts->accounts);
    memset(accounts, 0, sizeof *accounts);
}
