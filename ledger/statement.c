#include "ledger/statement.h"

#include <string.h>

#include "common/own_pages.h"
#include "common/text.h"
#include "ledger/accounts.h"
#include "ledger/ledger_internal.h"
#include "track/origins.h"

#include "common/poison.h"

void sc_statement_put_uuid(struct sc_text *text, const char *prefix, const uint8_t *uuid)
{
    sc_text_put(text, prefix);
    for (unsigned i = 0; i < SC_STATEMENT_UUID_BYTES; i++)
        sc_text_format(text, "%s%c%c", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                       "0123456789abcdef"[uuid[i] >> 4], "0123456789abcdef"[uuid[i] & 15]);
}

static uint64_t most_of(const struct sc_statement_account *account)
{
    return account->account.bytes > account->peak_bytes ? account->account.bytes
                                                        : account->peak_bytes;
}

/* Does it come before? Of things without bytes there are more, or fewer. */
static bool comes_before(const struct sc_statement_account *one,
                         const struct sc_statement_account *other)
{
    if (most_of(one) != most_of(other))
        return most_of(one) > most_of(other);
    return one->account.blocks > other->account.blocks;
}

static void consider(struct sc_statement *statement, const struct sc_statement_account *account)
{
    unsigned at = statement->account_count;
    if (at == SC_STATEMENT_ACCOUNTS &&
        !comes_before(account, &statement->accounts[SC_STATEMENT_ACCOUNTS - 1]))
        return;
    at -= at == SC_STATEMENT_ACCOUNTS;
    statement->account_count = at + 1;
    for (; at > 0 && comes_before(account, &statement->accounts[at - 1]); at--)
        statement->accounts[at] = statement->accounts[at - 1];
    statement->accounts[at] = *account;
}

static void note_contexts(struct sc_statement *statement, const struct sc_account *account,
                          unsigned place)
{
    statement->places[place].accounts--;
    if (account->blocks && statement->context_count < SC_STATEMENT_CONTEXTS)
        statement->contexts[statement->context_count++] =
            (struct sc_statement_context){place, account->origin, account->blocks};
}

static void note_share(struct sc_statement *statement, const struct sc_statement_account *account)
{
    bool has_room = statement->share_count < SC_STATEMENT_SHARES;
    struct sc_statement_share *share =
        &statement
             ->shares[has_room ? statement->share_count++ : SC_STATEMENT_SHARES + account->place];
    share->place = account->place;
    share->origin = has_room ? account->account.origin : 0;
    share->bytes += account->account.bytes;
    share->blocks += account->account.blocks;
    share->peak_bytes += account->peak_bytes;
}

static void consider_all(struct sc_statement *statement, struct sc_accounts *accounts,
                         unsigned place)
{
    for (uint32_t id = 1; id <= accounts->accounts.live; id++) {
        const struct sc_account *account = sc_accounts_at(accounts, id);
        struct sc_statement_account drawn = {
            .account = *account,
            .place = place,
            .peak_bytes = sc_accounts_peak_bytes(accounts, account),
            .peak_blocks = sc_accounts_peak_blocks(accounts, account),
        };
        if (account->kind == SC_LEDGER_CONTEXTS)
            note_contexts(statement, account, place);
        else if (account->blocks || drawn.peak_blocks || account->kind == SC_LEDGER_HELD)
            consider(statement, &drawn);
        if (account->kind < SC_LEDGER_OWN_KINDS && (account->blocks || drawn.peak_blocks))
            note_share(statement, &drawn);
    }
}

/* Accounts of one place without their labels: who loses one block under each has lost them all. */
enum { MERGED_CELLS = 2 * SC_ACCOUNTS_MAX };

static void merge(struct sc_account *merged, const struct sc_account *account)
{
    const struct sc_origin made = sc_origins_get(account->origin);
    uint32_t unlabelled = made.label ? sc_origins_put(made.api, made.stack, 0) : 0;
    uint32_t origin = unlabelled ? unlabelled : account->origin;
    uint32_t i = (origin * 2654435761u + account->kind) % MERGED_CELLS;
    while (merged[i].ever_blocks && (merged[i].origin != origin || merged[i].kind != account->kind))
        i = (i + 1) % MERGED_CELLS;
    struct sc_account *into = &merged[i];
    into->origin = origin;
    into->kind = account->kind;
    into->bytes += account->bytes;
    into->blocks += account->blocks;
    into->ever_blocks += account->ever_blocks;
    into->outlived += account->outlived;
    into->was_reset |= account->was_reset;
}

static void merge_all(struct sc_accounts *accounts, struct sc_account *merged)
{
    for (uint32_t id = 1; id <= accounts->accounts.live; id++)
        merge(merged, sc_accounts_at(accounts, id));
}

/* Nobody knows whether one place has made the blocks without a stack. */
static void consider_never_freed(struct sc_statement *statement, const struct sc_account *merged,
                                 unsigned place)
{
    for (uint32_t i = 0; i < MERGED_CELLS; i++) {
        struct sc_statement_account lost = {.account = merged[i], .place = place};
        lost.account.blocks = sc_accounts_never_freed(&merged[i]);
        if (lost.account.blocks && sc_origins_get(merged[i].origin).stack)
            consider(statement, &lost);
    }
}

static void draw_place(struct sc_ledger *ledger, struct sc_statement *statement, unsigned place)
{
    struct sc_statement_place *drawn = &statement->places[place];
    sc_brief_lock_take(&ledger->lock);
    struct sc_accounts *accounts = &ledger->places[place];
    memcpy(drawn->kinds, accounts->kinds, sizeof drawn->kinds);
    drawn->all = accounts->all;
    drawn->backed_bytes = sc_accounts_backed(accounts);
    drawn->accounts = accounts->accounts.live;
    drawn->is_used = drawn->accounts != 0;
    consider_all(statement, accounts, place);
    sc_brief_lock_give(&ledger->lock);
}

static void draw_pool(struct sc_ledger *ledger, struct sc_ledger_pool *pool,
                      struct sc_statement *statement)
{
    sc_brief_lock_take(&ledger->lock);
    const uint64_t handle = atomic_load_explicit(&pool->handle, memory_order_relaxed);
    statement->pools[statement->pool_count] = (struct sc_statement_pool){
        .handle = handle,
        .is_gone = atomic_load_explicit(&pool->is_gone, memory_order_relaxed),
        .is_imported = pool->is_imported,
        .place = pool->place,
        .origin = pool->origin,
        .used = pool->used,
        .exported_ns = pool->exported_ns,
    };
    statement->pool_count += handle != 0; /* 0: nobody's */
    sc_brief_lock_give(&ledger->lock);
}

static void draw_pools(struct sc_ledger *ledger, struct sc_statement *statement)
{
    unsigned ever = atomic_load_explicit(&ledger->pools_ever, memory_order_acquire);
    for (unsigned i = 0; i < ever; i++)
        draw_pool(ledger, &ledger->pools[i], statement);
}

void sc_statement_draw(struct sc_ledger *ledger, struct sc_statement *statement)
{
    memset(statement, 0, sizeof *statement);
    for (unsigned place = 0; place < SC_LEDGER_PLACES; place++)
        draw_place(ledger, statement, place);
    draw_pools(ledger, statement);
    statement->export_count = sc_ledger_list_exports(ledger, statement->exports);
    statement->suballocator_count = sc_ledger_list_suballocators(ledger, statement->suballocators);
    statement->unknown_frees = atomic_load_explicit(&ledger->unknown_frees, memory_order_relaxed);
    statement->settled = atomic_load_explicit(&ledger->settled, memory_order_relaxed);
    statement->longest_ns = atomic_load_explicit(&ledger->longest_ns, memory_order_relaxed);
    statement->unrecorded = atomic_load_explicit(&ledger->unrecorded, memory_order_relaxed);
}

void sc_statement_draw_never_freed(struct sc_ledger *ledger, struct sc_statement *statement)
{
    memset(statement, 0, sizeof *statement);
    for (unsigned place = 0; place < SC_LEDGER_PLACES; place++) {
        const bool is_used = ledger->places[place].accounts.live;
        struct sc_account *merged = is_used ? sc_pages_map(MERGED_CELLS * sizeof *merged) : NULL;
        if (!merged)
            continue;
        sc_brief_lock_take(&ledger->lock);
        merge_all(&ledger->places[place], merged);
        sc_brief_lock_give(&ledger->lock);
        consider_never_freed(statement, merged, place);
        sc_pages_unmap(merged, MERGED_CELLS * sizeof *merged);
    }
}
