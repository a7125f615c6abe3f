/* Counts what CUPTI reports about managed memory that moves (um=1).
 *
 * Thread-safe and lock-free. Not for a signal handler. */
#ifndef SC_INTERPOSE_LEDGER_MOVES_H
#define SC_INTERPOSE_LEDGER_MOVES_H

#include <stdbool.h>

#include "ledger/managed_counts.h"

struct sc_managed_news;

/* Counts one record of CUPTI's: pages that moved, or a fault. */
void sc_moves_count(const struct sc_managed_news *news);

/* Returns true if CUPTI reports page faults, and has dropped no record so far. */
bool sc_moves_are_known(void);

/* Returns the counts so far; other threads may go on counting. */
const struct sc_managed_counts *sc_moves_counts(void);

#endif
