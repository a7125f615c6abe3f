/* Adds to a statement (a copy of the ledger, ledger/statement.h) what only the driver knows: the
 * names of devices, what pools and graphs have reserved, how much memory is free.
 *
 * The driver is asked in relaxed mode, so that no capture is broken, and never in a way that waits
 * for the device. Locks: none may be held. errno is kept. Not signal-safe. */

/* Terms (docs/glossary.md):
 *   ledger: which memory the process has, and which call stack asked for it
 */

#ifndef SC_INTERPOSE_LEDGER_BALANCE_H
#define SC_INTERPOSE_LEDGER_BALANCE_H

#include <stdbool.h>

struct sc_statement;

/* Asks which devices there are. Called when the driver is initialised. */
void sc_balance_start(void);

/* Fills in the statement. `asks`: the driver may be asked. If not, what only it knows is left out:
 * another thread may be in the driver for ever, holding its lock. */
void sc_balance_draw(struct sc_statement *statement, bool asks);

/* Waits, for 100 ms at most, until no thread asks the driver about pools and devices any more.
 * Called before a context is destroyed, when the context is out of the library's table already, so
 * that nobody begins to. */
void sc_balance_await(void);

/* Called around a call that destroys a pool: no thread asks the driver about pools in between. The
 * first one waits for a thread that is asking. */
void sc_balance_pool_leaves(void);
void sc_balance_pool_left(void);

#endif
