/* Another program is about to run in this process. */
#ifndef SC_INTERPOSE_LIBC_EXEC_H
#define SC_INTERPOSE_LIBC_EXEC_H

/* What was found is written, and every page let go. Async-signal-safe; errno is kept. */
void sc_exec_prepare(void);

#endif
