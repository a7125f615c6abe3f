/* Finds child processes that are still running when this process ends and have a device open, since
 * the memory that they use on it stays in use.
 *
 * System calls alone: no lock, no allocation. errno is kept. Signal-safe. */
#ifndef SC_INTERPOSE_ENTRY_CHILDREN_H
#define SC_INTERPOSE_ENTRY_CHILDREN_H

struct sc_statement;

/* Lists such children in the statement, the first ones that the kernel names. */
void sc_children_find(struct sc_statement *statement);

#endif
