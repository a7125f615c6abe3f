#include "ledger/statement.h"

#include <string.h>

#include "common/own_pages.h"
#include "common/text.h"
#include "ledger/accounts.h"
#include "ledger/ledger_internal.h"
#include "track/origins.h"

#include "common/poison.h"

/* Appends a UUID as nvidia-smi prints it: "GPU-8f6e0b3a-...". */
void sc_statement_put_uuid(struct sc_text *text, const char *prefix, const uint8_t *uuid)
{
    sc_text_put(text, prefix);
    for (unsigned i = 0; i < SC_STATEMENT_UUID_BYTES; i++)
        sc_text_format(text, "%s%c%c", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                       "0123456789abcdef"[uuid[i] >> 4], "0123456789abcdef"[uuid[i] & 15]);
}

/* Returns how many bytes the account has now or had at the peak, whichever is more. */
static uint64_t most_of(const struct sc_statement_account *account)
{
    return account->bytes > account->peak_bytes ? account->bytes : account->peak_bytes;
}

/* Does an account come before another in a statement? By its bytes; accounts without bytes, such as
 * those of graphs, by their blocks. */
static bool comes_before(const struct sc_statement_account *one,
                         const struct sc_statement_account *other)
{
    if (most_of(one) != most_of(other))
        return most_of(one) > most_of(other);
    return one->blocks > other->blocks;
}

/* Adds the account to the statement's sorted list, which has room for those with most. The account
 * that falls out of a full list is the last one, perhaps this. */
static void list_account(struct sc_statement *statement, const struct sc_statement_account *account)
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

/* Lists an account of contexts, as to who made them, if any live. Contexts are no memory, so it is
 * not counted among the accounts of its place. */
static void note_contexts(struct sc_statement *statement,
                          const struct sc_statement_account *account)
{
    statement->places[account->place].accounts--;
    if (account->blocks && statement->mention_count < SC_STATEMENT_CONTEXTS)
        statement->mentions[statement->mention_count++] =
            (struct sc_statement_mention){.what = SC_STATEMENT_CONTEXT,
                                          .place = account->place,
                                          .origin = account->origin,
                                          .count = account->blocks};
}

/* Adds what the account holds to the list by which the report adds up memory by owner (library). If
 * the list is full, adds to the last share of the place, which has no owner. */
static void note_share(struct sc_statement *statement, const struct sc_statement_account *account)
{
    bool has_room = statement->share_count < SC_STATEMENT_SHARES;
    struct sc_statement_share *share =
        &statement
             ->shares[has_room ? statement->share_count++ : SC_STATEMENT_SHARES + account->place];
    share->place = account->place;
    share->origin = has_room ? account->origin : 0;
    share->bytes += account->bytes;
    share->blocks += account->blocks;
    share->peak_bytes += account->peak_bytes;
}

/* Copies an account for the report. What the account held at the place's peak was stored only if
 * the account has changed since; otherwise it holds the same now. */
static struct sc_statement_account copy_account(const struct sc_accounts *accounts,
                                                const struct sc_account *account, unsigned place)
{
    const uint64_t bytes = sc_account_bytes(account), blocks = sc_account_blocks(account);
    const bool has_changed = account->peak == accounts->peak;
    return (struct sc_statement_account){
        .kind = account->kind,
        .place = place,
        .origin = account->origin,
        .bytes = bytes,
        .blocks = blocks,
        .peak_bytes = has_changed ? account->peak_bytes : bytes,
        .peak_blocks = has_changed ? account->peak_blocks : blocks,
        .ever_bytes = account->given_bytes,
        .ever_blocks = account->given_blocks,
        .references = account->references,
    };
}

/* Puts the accounts of a place into the statement: those that hold anything, or did at the peak.
 * Memory that is kept after its free is listed also when none is left. */
static void consider_all(struct sc_statement *statement, const struct sc_accounts *accounts,
                         unsigned place)
{
    for (uint32_t id = 1; id <= accounts->count; id++) {
        const struct sc_statement_account drawn = copy_account(accounts, &accounts->at[id], place);
        if (drawn.kind == SC_LEDGER_CONTEXTS)
            note_contexts(statement, &drawn);
        else if (drawn.blocks || drawn.peak_blocks || drawn.kind == SC_LEDGER_HELD)
            list_account(statement, &drawn);
        if (drawn.kind < SC_LEDGER_OWN_KINDS && (drawn.blocks || drawn.peak_blocks))
            note_share(statement, &drawn);
    }
}

/* Copies the sums of the place into the statement, and its accounts. */
static void draw_place(struct sc_ledger *ledger, struct sc_statement *statement, unsigned place)
    SC_REQUIRES(ledger->lock)
{
    struct sc_statement_place *drawn = &statement->places[place];
    const struct sc_accounts *accounts = &ledger->places[place];
    memcpy(drawn->kinds, accounts->kinds, sizeof drawn->kinds);
    drawn->all = accounts->all;
    for (unsigned kind = 0; kind < SC_LEDGER_OWN_KINDS; kind++)
        drawn->all.blocks += accounts->kinds[kind].blocks;
    drawn->backed_bytes = sc_accounts_backed(accounts);
    drawn->accounts = accounts->count;
    drawn->is_used = accounts->count != 0;
    consider_all(statement, accounts, place);
}

/* Lists the blocks of which the program has made handles for other processes, as long as they are
 * not freed. */
static void draw_exports(struct sc_ledger *ledger, struct sc_statement *statement)
    SC_REQUIRES(ledger->lock)
{
    for (unsigned i = 0; i < SC_LEDGER_EXPORTS; i++) {
        const struct sc_ledger_export *export = &ledger->exports[i];
        if (sc_ledger_export_is_open(ledger, export))
            statement->mentions[statement->mention_count++] =
                (struct sc_statement_mention){.what = SC_STATEMENT_EXPORT,
                                              .kind = export->kind,
                                              .place = export->place,
                                              .origin = export->origin,
                                              .count = export->since_ns,
                                              .bytes = export->size_bytes};
    }
}

/* Copies all that the ledger knows into a statement, under the ledger's lock, so that the figures
 * agree with each other. */
void sc_statement_draw(struct sc_ledger *ledger, struct sc_statement *statement)
{
    memset(statement, 0, sizeof *statement);
    SC_LOCKED_BRIEFLY(&ledger->lock);
    for (unsigned place = 0; place < SC_LEDGER_PLACES; place++)
        draw_place(ledger, statement, place);
    for (unsigned i = 0; i < ledger->pools_ever; i++)
        if (ledger->pools[i].handle)
            statement->pools[statement->pool_count++] = ledger->pools[i];
    draw_exports(ledger, statement);
    memcpy(statement->suballocators, ledger->suballocators, sizeof statement->suballocators);
    memcpy(statement->sums, ledger->sums, sizeof statement->sums);
}

/* ---- never freed ---- */

/* Adds the account to one of the same call without a label: a program that loses a block in each of
 * its labelled steps (tests, requests) has lost them all at one place in its code. */
static void merge_account(struct sc_accounts *merged, const struct sc_account *account)
{
    const struct sc_origin made = sc_origins_get(account->origin);
    uint32_t unlabelled = made.label ? sc_origins_put(made.api, made.stack, 0) : 0;
    struct sc_account *into =
        sc_accounts_find(merged, account->kind, unlabelled ? unlabelled : account->origin);
    into->given_bytes += account->given_bytes;
    into->given_blocks += account->given_blocks;
    into->freed_bytes += account->freed_bytes;
    into->freed_blocks += account->freed_blocks;
    into->outlived += account->outlived;
    into->was_reset |= account->was_reset;
}

/* Lists accounts with blocks that were not freed. Blocks without a stack are left out, since they
 * may come from several places in the code. */
static void consider_never_freed(struct sc_statement *statement, const struct sc_accounts *merged,
                                 unsigned place)
{
    for (uint32_t id = 1; id <= merged->count; id++) {
        struct sc_statement_account lost = copy_account(merged, &merged->at[id], place);
        lost.blocks = sc_accounts_never_freed(&merged->at[id]);
        if (lost.blocks && sc_origins_get(lost.origin).stack)
            list_account(statement, &lost);
    }
}

/* Fills a statement with what was never freed: one place after the other, with accounts merged that
 * differ only in their labels. Without memory for the merging it stays empty. */
void sc_statement_draw_never_freed(struct sc_ledger *ledger, struct sc_statement *statement)
{
    struct sc_accounts *merged = sc_pages_map(sizeof *merged);
    memset(statement, 0, sizeof *statement);
    for (unsigned place = 0; merged && place < SC_LEDGER_PLACES; place++) {
        sc_brief_lock_acquire(&ledger->lock);
        for (uint32_t id = 1; id <= ledger->places[place].count; id++)
            merge_account(merged, &ledger->places[place].at[id]);
        sc_brief_lock_release(&ledger->lock);
        consider_never_freed(statement, merged, place);
        sc_accounts_destroy(merged);
    }
    sc_pages_unmap(merged, sizeof *merged);
}
