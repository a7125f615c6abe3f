/* A statement: a copy of the ledger at one moment, for the report, the oom line and the
 * post-mortem, which write it out. It has what each place (a device or the host) holds and has held
 * at most, the driver's pools, and the accounts with most memory.
 *
 * Plain data. Members that only the driver knows are left zero, for the caller to fill in. */

/* Terms (docs/glossary.md):
 *   account: what one call stack has of one kind of memory at one place
 *   ledger: which memory the process has, and which call stack asked for it
 *   post-mortem: the report's line that says what was in flight when a context was lost
 */

#ifndef SC_LEDGER_STATEMENT_H
#define SC_LEDGER_STATEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/ledger.h"

enum {
    SC_STATEMENT_ACCOUNTS = 48,
    SC_STATEMENT_STEPS = 16,
    SC_STATEMENT_CONTEXTS = 16,
    SC_STATEMENT_UUID_BYTES = 16
};

/* Device memory that the driver has taken for itself, when it was last asked about
 * (interpose/ledger/unaccounted.h). */
struct sc_statement_unaccounted {
    bool is_asked, is_known;
    uint64_t driver_bytes; /* what the process has on the device, by the driver */
    uint64_t bytes, peak_bytes;
};

/* Facts about a call that are listed besides the accounts. Each kind says what `count` means. */
enum sc_statement_mention_kind {
    SC_STATEMENT_CONTEXT, /* count: contexts that it has made and that live */
    SC_STATEMENT_EXPORT,  /* count: when it made a handle for other processes, in ns */
    SC_STATEMENT_STEP,    /* count: how often the driver's own memory grew after it */
};

enum { SC_STATEMENT_MENTIONS = SC_STATEMENT_CONTEXTS + SC_LEDGER_EXPORTS + SC_STATEMENT_STEPS };

struct sc_statement_mention {
    enum sc_statement_mention_kind what;
    enum sc_ledger_kind kind; /* of an export */
    unsigned place;
    uint32_t origin; /* 0: the call is not known */
    uint64_t count, bytes;
};

struct sc_statement_place {
    bool is_used; /* there was ever anything */
    struct sc_ledger_count kinds[SC_LEDGER_KINDS];
    struct sc_ledger_count all;
    uint64_t backed_bytes; /* of SC_LEDGER_DEVICE */
    uint64_t accounts;     /* how many accounts there are, without those of contexts */
    uint64_t
        /* managed memory that the latest advice or prefetch puts here, wherever it was allocated */
        to_lie_bytes;

    bool has_uuid, knows_graphs, knows_free;
    uint8_t uuid[SC_STATEMENT_UUID_BYTES];
    uint64_t graphs_used_bytes, graphs_reserved_bytes, graphs_reserved_peak_bytes;
    uint64_t free_bytes, total_bytes; /* of the device, for all processes */
    struct sc_statement_unaccounted unaccounted;
};

/* A child process that still runs and has a device open. */
enum { SC_STATEMENT_CHILDREN = 8, SC_STATEMENT_NAME_BYTES = 17 };

struct sc_statement_child {
    int32_t pid;
    char name[SC_STATEMENT_NAME_BYTES]; /* "": not known */
};

/* What one account (a call with its stack) holds of memory that belongs to the process. The report
 * adds these up by owner, the library that made the call. */
struct sc_statement_share {
    unsigned place;
    uint32_t origin;
    uint64_t bytes, blocks, peak_bytes;
};

/* How many shares are listed. All further ones are added up in one more share for each place. */
enum { SC_STATEMENT_SHARES = 4096 };

struct sc_statement_account {
    enum sc_ledger_kind kind;
    unsigned place;
    uint32_t origin;
    uint64_t bytes, blocks;
    uint64_t peak_bytes, peak_blocks; /* what it held when the place held most */
    uint64_t ever_bytes, ever_blocks; /* all that was ever allocated */
    uint64_t references;
};

struct sc_statement {
    struct sc_statement_place places[SC_LEDGER_PLACES];
    struct sc_ledger_pool pools[SC_LEDGER_POOLS];
    unsigned pool_count;
    /* those with most bytes come first */
    struct sc_statement_account accounts[SC_STATEMENT_ACCOUNTS];
    unsigned account_count;
    struct sc_statement_mention mentions[SC_STATEMENT_MENTIONS];
    unsigned mention_count;
    struct sc_statement_child children[SC_STATEMENT_CHILDREN];
    unsigned child_count;
    struct sc_statement_share shares[SC_STATEMENT_SHARES + SC_LEDGER_PLACES];
    unsigned share_count; /* after which each place has one share for the rest */
    struct sc_ledger_suballocator suballocators[SC_LEDGER_SUBALLOCATORS];
    uint64_t sums[SC_LEDGER_SUMS];
};

/* Returns from - what, or 0 if `what` is larger. */
static inline uint64_t sc_statement_less(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

struct sc_text;

/* Appends a UUID as nvidia-smi prints it, "GPU-8f6e0b3a-...". `prefix`: "GPU"; "MIG" for a MIG
 * instance. */
void sc_statement_put_uuid(struct sc_text *text, const char *prefix, const uint8_t *uuid);

/* Fills the statement with only the accounts that have blocks which were never freed
 * (sc_accounts_never_freed), for the end of the process. Takes the ledger's lock once for each
 * place. */
void sc_statement_draw_never_freed(struct sc_ledger *ledger, struct sc_statement *statement);

/* Fills the statement from the whole ledger. Takes the ledger's lock once. It reads accounts and
 * never single blocks, so a million blocks take no longer than one. */
void sc_statement_draw(struct sc_ledger *ledger, struct sc_statement *statement);

#endif
