/* The record of the ledger (ledger.h), for the files that make it up and for tests. */

/* Terms (docs/glossary.md):
 *   ledger: which memory the process has, and which call stack asked for it
 */

#ifndef SC_LEDGER_LEDGER_INTERNAL_H
#define SC_LEDGER_LEDGER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/brief_lock.h"
#include "ledger/accounts.h"
#include "ledger/ledger_index.h"

/* How many contexts that have ended are remembered, the latest ones (`ended`), and how many
 * addresses whose frees found no block (`strays`). A block that a call has taken out before its
 * free is put back if the driver refuses; not if its context or another free of it is remembered
 * here. */
enum { SC_LEDGER_ENDS = 8, SC_LEDGER_STRAYS = 8 };

struct sc_ledger {
    struct sc_brief_lock lock; /* guards all members */
    struct sc_ledger_index index;
    struct sc_accounts places[SC_LEDGER_PLACES];
    struct sc_ledger_pool pools[SC_LEDGER_POOLS];
    unsigned pools_ever; /* how many pools were ever used: later ones are unused */
    /* valid if their entries have is_exported */
    struct sc_ledger_export exports[SC_LEDGER_EXPORTS];
    /* the first that were reported */
    struct sc_ledger_suballocator suballocators[SC_LEDGER_SUBALLOCATORS];
    uint32_t ended[SC_LEDGER_ENDS];
    unsigned ends;                     /* how many contexts have ended */
    uint64_t strays[SC_LEDGER_STRAYS]; /* names of the latest such frees */
    uint32_t strays_ever;              /* how many there were */
    uint64_t sums[SC_LEDGER_SUMS];
    uint64_t frees; /* numbers that frees were given */
};

/* May other processes still open the block of this record? Only as long as it is in the ledger; the
 * name may be another block's by now, which is then not marked as exported. */
static inline bool sc_ledger_export_is_open(struct sc_ledger *ledger,
                                            const struct sc_ledger_export *export)
    SC_REQUIRES(ledger->lock)
{
    const struct sc_ledger_entry *entry =
        export->name ? sc_ledger_index_seek(&ledger->index, export->space, export->name).entry
                     : NULL;
    return entry && entry->is_exported;
}

#endif
