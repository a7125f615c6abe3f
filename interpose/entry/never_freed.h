/* Reports memory that was never freed (SC601): what the ledger still has when the process's exit
 * handlers and destructors have run.
 *
 * Not signal-safe. Locks: none may be held; takes the report's. */

/* Terms (docs/glossary.md):
 *   account: what one call stack has of one kind of memory at one place
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   ledger: which memory the process has, and which call stack asked for it
 */

#ifndef SC_INTERPOSE_ENTRY_NEVER_FREED_H
#define SC_INTERPOSE_ENTRY_NEVER_FREED_H

/* With leaks=1, reports a hazard for each call stack that the rule covers (ledger/accounts.h): for
 * the 48 with most bytes at most. Reports nothing if stacks have one frame only
 * (sc_unwind_is_deep), which does not tell buffers apart. Pre: the process was watched from its
 * beginning, and this is its last exit handler. */
void sc_never_freed_report(void);

#endif
