/* Reports memory that was never given back (SC601): what the ledger still has when the process's
 * handlers and destructors have run.
 *
 * Not signal-safe. Locks: none may be held; the report's is taken.
 */
#ifndef SC_INTERPOSE_ENTRY_NEVER_FREED_H
#define SC_INTERPOSE_ENTRY_NEVER_FREED_H

/* With leaks=1, reports a hazard for each call stack that the rule covers (ledger/accounts.h), for
 * the 48 with most bytes at most. Stacks of one frame do not tell buffers apart: without deeper
 * ones (sc_unwind_is_deep) nothing is reported. Needs: the process was watched from its beginning,
 * and this is its last handler. */
void sc_never_freed_report(void);

#endif
