/* Completes the ledger's statement with what only the driver knows: the devices' names, what pools
 * and graphs have reserved, what is free.
 *
 * The driver is asked in relaxed mode, which breaks no capture, and never for what waits for the
 * device. Locks: none may be held. errno is kept. Not signal-safe. */
#ifndef SC_INTERPOSE_LEDGER_BALANCE_H
#define SC_INTERPOSE_LEDGER_BALANCE_H

#include <stdbool.h>

struct sc_statement;

/* The driver is up: learns which devices there are. */
void sc_balance_start(void);

/* `asks`: the driver may be asked. Else another thread may be in it for good, and its lock taken:
 * what it knows is left out. */
void sc_balance_draw(struct sc_statement *statement, bool asks);

/* Waits until no thread asks the driver any more, for 100 ms at most. To be called before a context
 * is destroyed that is out of the table already. */
void sc_balance_await(void);

/* Around a call that destroys a pool, which is not asked about meanwhile: who does is awaited. */
void sc_balance_pool_leaves(void);
void sc_balance_pool_left(void);

#endif
