#include "ledger/accounts.h"

#include <string.h>

#include "common/own_pages.h"

#include "common/poison.h"

enum { SMALL_BYTES = 1 << 20, GRANULE_BYTES = 2 << 20 };

/* Rounds up to whole granules of the driver's. */
static uint64_t in_granules(uint64_t size_bytes)
{
    return (size_bytes + GRANULE_BYTES - 1) & ~(uint64_t)(GRANULE_BYTES - 1);
}

/* Counts how much memory the driver takes for a block. Small blocks share granules, so their bytes
 * are added up; each large one has granules of its own. */
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

/* Makes the list of accounts when the first one is needed. Without memory for it, the single
 * account `only` is used in its place. */
static void make_list(struct sc_accounts *accounts)
{
    accounts->at = sc_pages_map(SC_ACCOUNTS_MAX * sizeof *accounts->at);
    if (!accounts->at)
        accounts->at = &accounts->only;
}

static __attribute__((noinline, cold)) struct sc_account *
make(struct sc_accounts *accounts, enum sc_ledger_kind kind, uint32_t origin)
{
    if (!accounts->at)
        make_list(accounts);
    if (accounts->at == &accounts->only || accounts->count == SC_ACCOUNTS_MAX - 1)
        return accounts->at;
    uint32_t id = ++accounts->count, *cell = sc_accounts_cell(accounts, kind, origin);
    accounts->at[id] = (struct sc_account){
        .origin = origin, .kind = (uint8_t)kind, .id = id, .next = *cell, .peak = accounts->peak};
    *cell = id;
    return &accounts->at[id];
}

struct sc_account *sc_accounts_find(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                                    uint32_t origin)
{
    struct sc_account *account = sc_accounts_look(accounts, kind, origin);
    return account ? account : make(accounts, kind, origin);
}

/* Remembers for each account how many blocks were given until now: those of them that are left have
 * outlived the contexts. */
void sc_accounts_note_outlived(struct sc_accounts *accounts, bool is_reset)
{
    for (uint32_t id = 1; id <= accounts->count; id++) {
        accounts->at[id].outlived = accounts->at[id].given_blocks;
        accounts->at[id].was_reset = is_reset;
    }
}

/* Returns how many blocks of the account count as never freed when the process ends. Blocks that
 * were allocated after the last context ended may be those that were freed after it, so only what
 * is left beyond them is certain to be older. Blocks from before a reset need not be freed. */
uint64_t sc_accounts_never_freed(const struct sc_account *account)
{
    uint64_t held = sc_account_blocks(account);
    uint64_t since = account->given_blocks - account->outlived;
    uint64_t older = held > since ? held - since : 0;
    uint64_t blocks = account->was_reset ? held - older : held;
    bool may_be_meant = blocks == 1 && (older == 0 || account->was_reset);
    return account->kind > SC_LEDGER_MANAGED || may_be_meant ? 0 : blocks;
}

void sc_accounts_destroy(struct sc_accounts *accounts)
{
    if (accounts->at && accounts->at != &accounts->only)
        sc_pages_unmap(accounts->at, SC_ACCOUNTS_MAX * sizeof *accounts->at);
    memset(accounts, 0, sizeof *accounts);
}
