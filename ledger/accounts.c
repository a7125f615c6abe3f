#include "ledger/accounts.h"

#include <string.h>

#include "common/own_pages.h"

#include "common/poison.h"

enum { SMALL_BYTES = 1 << 20, GRANULE_BYTES = 2 << 20 };

/* Rounds up to whole granules, the 2 MB by which the driver takes device memory. */
static uint64_t in_granules(uint64_t size_bytes)
{
    return (size_bytes + GRANULE_BYTES - 1) & ~(uint64_t)(GRANULE_BYTES - 1);
}

/* Counts how much memory the driver takes for a block of cuMemAlloc that was `given`, or else
 * freed. Blocks of up to 1 MB share granules of 2 MB, so their bytes are added up; each larger one
 * has granules of its own. */
void sc_accounts_count_backed(struct sc_accounts *accounts, uint64_t size_bytes, bool given)
{
    uint64_t *sum = size_bytes <= SMALL_BYTES ? &accounts->small_bytes : &accounts->large_bytes;
    uint64_t backed = size_bytes <= SMALL_BYTES ? size_bytes : in_granules(size_bytes);
    SC_ASSERT(given || *sum >= backed);
    *sum += given ? backed : -backed;
}

/* Returns how much memory the driver takes at least for the place's blocks of cuMemAlloc, in whole
 * granules. */
uint64_t sc_accounts_backed(const struct sc_accounts *accounts)
{
    return accounts->large_bytes + in_granules(accounts->small_bytes);
}

/* Makes the list of accounts when the first one is needed. Without memory for it, the account
 * `only` stands for all, so that the sums of the place stay right. */
static void make_list(struct sc_accounts *accounts)
{
    accounts->at = sc_pages_map(SC_ACCOUNTS_MAX * sizeof *accounts->at);
    if (!accounts->at)
        accounts->at = &accounts->only;
}

static __attribute__((noinline, cold)) struct sc_account *
/* Makes an account for this kind of memory and this call (origin), and enters it into the hash
 * table. Without room for another one returns the first account, which is for memory that has no
 * other. */
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

/* Returns the account of the kind and the call (origin), which is made if there is none. */
struct sc_account *sc_accounts_find(struct sc_accounts *accounts, enum sc_ledger_kind kind,
                                    uint32_t origin)
{
    struct sc_account *account = sc_accounts_look(accounts, kind, origin);
    return account ? account : make(accounts, kind, origin);
}

/* Called when the device's last context has ended, or by a reset. Notes in each account how many
 * blocks were given until now: those of them that are left have outlived the contexts. */
void sc_accounts_note_outlived(struct sc_accounts *accounts, bool is_reset)
{
    for (uint32_t id = 1; id <= accounts->count; id++) {
        accounts->at[id].outlived = accounts->at[id].given_blocks;
        accounts->at[id].was_reset = is_reset;
    }
}

/* Returns how many blocks of the account count as never freed when the process ends. Blocks that
 * were allocated after the last context ended may be those that were freed after it, so only what
 * is left beyond them is certain to be older (than that end). Blocks from before a reset need not
 * be freed. A single block that has not outlived its contexts may be kept on purpose, and kinds
 * that are no memory do not count. */
uint64_t sc_accounts_never_freed(const struct sc_account *account)
{
    uint64_t held = sc_account_blocks(account);
    uint64_t since = account->given_blocks - account->outlived;
    uint64_t older = held > since ? held - since : 0;
    uint64_t blocks = account->was_reset ? held - older : held;
    bool may_be_meant = blocks == 1 && (older == 0 || account->was_reset);
    return account->kind > SC_LEDGER_MANAGED || may_be_meant ? 0 : blocks;
}

/* Frees the list of accounts, and makes the struct empty. */
void sc_accounts_destroy(struct sc_accounts *accounts)
{
    if (accounts->at && accounts->at != &accounts->only)
        sc_pages_unmap(accounts->at, SC_ACCOUNTS_MAX * sizeof *accounts->at);
    memset(accounts, 0, sizeof *accounts);
}
