/* Counts what CUPTI tells of managed memory as it moves (um=1).
 *
 * Thread-safe and lock-free. Not for a signal handler. */
#ifndef SC_INTERPOSE_LEDGER_MOVES_H
#define SC_INTERPOSE_LEDGER_MOVES_H

#include <stdbool.h>

#include "ledger/managed_counts.h"

struct sc_managed_news;

void sc_moves_count(const struct sc_managed_news *news);

/* Does CUPTI tell of faults, and has it left none out? */
bool sc_moves_are_known(void);

const struct sc_managed_counts *sc_moves_counts(void);

#endif
