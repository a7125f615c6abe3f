/* The record of the ledger (ledger.h), for the files that make it up and for tests. */
#ifndef SC_LEDGER_LEDGER_INTERNAL_H
#define SC_LEDGER_LEDGER_INTERNAL_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/brief_lock.h"
#include "ledger/accounts.h"
#include "ledger/ledger_index.h"

/* So many contexts that ended last are known. */
enum { SC_LEDGER_ENDS = 8 };

struct sc_ledger {
    struct sc_brief_lock lock; /* over what follows, up to the pools */
    struct sc_ledger_index index;
    struct sc_accounts places[SC_LEDGER_PLACES];
    struct sc_ledger_pool pools[SC_LEDGER_POOLS];       /* changed under the lock */
    struct sc_ledger_export exports[SC_LEDGER_EXPORTS]; /* those whose entry says so */
    struct sc_ledger_suballocator suballocators[SC_LEDGER_SUBALLOCATORS]; /* the first ones */
    uint32_t ended[SC_LEDGER_ENDS];
    unsigned ends;                  /* of contexts */
    _Atomic unsigned pools_ever;    /* behind these no place has been used yet */
    _Atomic uint64_t unknown_frees; /* of names that are not in the ledger */
    _Atomic uint64_t settled;       /* calls that were made once more when held memory had gone */
    _Atomic uint64_t longest_ns;    /* that any was held, of what has gone back */
    _Atomic uint64_t unrecorded;    /* blocks that there was no memory for: they are not counted */
};

#endif
