#include "ledger/accounts.h"

#include <string.h>

#include "common/poison.h"

enum { SMALL_BYTES = 1 << 20, GRANULE_BYTES = 2 << 20 };

static uint64_t in_granules(uint64_t size_bytes)
{
    return (size_bytes + GRANULE_BYTES - 1) & ~(uint64_t)(GRANULE_BYTES - 1);
}

void sc_accounts_count_backed(struct sc_accounts *accounts, uint64_t size_bytes, bool given)
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

__attribute__((noinline, cold)) struct sc_account *
sc_accounts_make(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t origin)
{
    if (!accounts->accounts.record_bytes)
        sc_pool_init(&accounts->accounts, sizeof(struct sc_account));
    uint32_t id = accounts->accounts.live < SC_ACCOUNTS_MAX ? sc_pool_take(&accounts->accounts) : 0;
    struct sc_account *account = sc_accounts_at(accounts, id);
    if (!account)
        return NULL;
    uint32_t *cell = sc_accounts_cell(accounts, kind, origin);
    *account = (struct sc_account){
        .origin = origin, .kind = (uint8_t)kind, .id = id, .next = *cell, .peak = accounts->peak};
    *cell = id;
    return account;
}

void sc_accounts_grow(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                      struct sc_account *account, uint64_t size_bytes)
{
    SC_ASSERT(kind >= SC_LEDGER_OWN_KINDS);
    if (account) {
        sc_accounts_keep_peak(accounts, account);
        account->bytes += size_bytes;
        account->ever_bytes += size_bytes;
    }
    sc_accounts_count(&accounts->kinds[kind], size_bytes);
    accounts->kinds[kind].blocks--;
}

void sc_accounts_outlive(struct sc_accounts *accounts, bool is_reset)
{
    for (uint32_t id = 1; id <= accounts->accounts.live; id++) {
        struct sc_account *account = sc_accounts_at(accounts, id);
        account->outlived = account->ever_blocks;
        account->was_reset = is_reset;
    }
}

/* What was given since may be what was taken back since. */
uint64_t sc_accounts_never_freed(const struct sc_account *account)
{
    uint64_t since = account->ever_blocks - account->outlived;
    uint64_t older = account->blocks > since ? account->blocks - since : 0;
    uint64_t blocks = account->was_reset ? account->blocks - older : account->blocks;
    bool may_be_meant = blocks == 1 && (older == 0 || account->was_reset);
    return account->kind > SC_LEDGER_MANAGED || may_be_meant ? 0 : blocks;
}

void sc_accounts_destroy(struct sc_accounts *accounts)
{
    sc_pool_destroy(&accounts->accounts);
    memset(accounts, 0, sizeof *accounts);
}
