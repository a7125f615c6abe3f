/* A statement: a copy of what the ledger says at one moment, for the report, the oom line and the
 * post-mortem, which write it down. It has what each place holds and has held at most, the driver's
 * pools, and the accounts with most memory.
 *
 * Plain data. Members that only the driver can tell are left zero, for the caller to fill in. */
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

/* Device memory that the driver has taken for itself, as of the last time that it was asked
 * (interpose/ledger/unaccounted.h). */
struct sc_statement_unaccounted {
    bool is_asked, is_known;
    uint64_t driver_bytes; /* what the process has of the device, the driver says */
    uint64_t bytes, peak_bytes;
};

/* What is mentioned of a call besides its account. Each kind says what `count` means. */
enum sc_statement_mention_kind {
    SC_STATEMENT_CONTEXT, /* contexts that it made, and that live */
    SC_STATEMENT_EXPORT,  /* when it made a handle for others, in ns */
    SC_STATEMENT_STEP,    /* how often that grew behind it */
};

enum { SC_STATEMENT_MENTIONS = SC_STATEMENT_CONTEXTS + SC_LEDGER_EXPORTS + SC_STATEMENT_STEPS };

struct sc_statement_mention {
    enum sc_statement_mention_kind what;
    enum sc_ledger_kind kind; /* of an export */
    unsigned place;
    uint32_t origin; /* 0: no call is known */
    uint64_t count, bytes;
};

struct sc_statement_place {
    bool is_used; /* there was something, ever */
    struct sc_ledger_count kinds[SC_LEDGER_KINDS];
    struct sc_ledger_count all;
    uint64_t backed_bytes; /* of SC_LEDGER_DEVICE */
    uint64_t accounts;     /* how many there are, but for those of contexts */
    uint64_t
        to_lie_bytes; /* managed memory, wherever allocated, by the latest advice or prefetch */

    bool has_uuid, knows_graphs, knows_free;
    uint8_t uuid[SC_STATEMENT_UUID_BYTES];
    uint64_t graphs_used_bytes, graphs_reserved_bytes, graphs_reserved_peak_bytes;
    uint64_t free_bytes, total_bytes; /* of the device, whoever uses it */
    struct sc_statement_unaccounted unaccounted;
};

/* A child process that is running and has a device open. */
enum { SC_STATEMENT_CHILDREN = 8, SC_STATEMENT_NAME_BYTES = 17 };

struct sc_statement_child {
    int32_t pid;
    char name[SC_STATEMENT_NAME_BYTES]; /* "": not known */
};

/* What one account has of memory that belongs to the process; the report adds these up by owner. */
struct sc_statement_share {
    unsigned place;
    uint32_t origin;
    uint64_t bytes, blocks, peak_bytes;
};

/* At most so many shares are told apart. All further ones are added up in one more share for each
 * place. */
enum { SC_STATEMENT_SHARES = 4096 };

struct sc_statement_account {
    enum sc_ledger_kind kind;
    unsigned place;
    uint32_t origin;
    uint64_t bytes, blocks;
    uint64_t peak_bytes, peak_blocks; /* when the place held most */
    uint64_t ever_bytes, ever_blocks; /* all that was given */
    uint64_t references;
};

struct sc_statement {
    struct sc_statement_place places[SC_LEDGER_PLACES];
    struct sc_ledger_pool pools[SC_LEDGER_POOLS];
    unsigned pool_count;
    struct sc_statement_account accounts[SC_STATEMENT_ACCOUNTS]; /* those with most come first */
    unsigned account_count;
    struct sc_statement_mention mentions[SC_STATEMENT_MENTIONS];
    unsigned mention_count;
    struct sc_statement_child children[SC_STATEMENT_CHILDREN];
    unsigned child_count;
    struct sc_statement_share shares[SC_STATEMENT_SHARES + SC_LEDGER_PLACES];
    unsigned share_count; /* behind which each place has one for the rest */
    struct sc_ledger_suballocator suballocators[SC_LEDGER_SUBALLOCATORS];
    uint64_t sums[SC_LEDGER_SUMS];
};

/* from - what; 0 if `what` is larger. */
static inline uint64_t sc_statement_less(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

struct sc_text;

/* Appends a UUID as nvidia-smi prints it, "GPU-8f6e0b3a-...". `prefix`: "GPU"; "MIG" for an
 * instance. */
void sc_statement_put_uuid(struct sc_text *text, const char *prefix, const uint8_t *uuid);

/* Draws a statement of the accounts with blocks that nobody has freed (sc_accounts_never_freed)
 * alone, for the end of the process. Takes the ledger's lock for each place. */
void sc_statement_draw_never_freed(struct sc_ledger *ledger, struct sc_statement *statement);

/* Draws a statement of the whole ledger. Takes the ledger's lock once. It looks at accounts and
 * never at single blocks, so a million blocks take no longer than one. */
void sc_statement_draw(struct sc_ledger *ledger, struct sc_statement *statement);

#endif
