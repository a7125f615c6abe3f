/* Finds child processes that are still running when this process ends and that have a device open:
 * memory that they use on the device stays in use.
 *
 * Makes system calls alone: no lock, no allocation. errno is kept. Signal-safe. */
#ifndef SC_INTERPOSE_ENTRY_CHILDREN_H
#define SC_INTERPOSE_ENTRY_CHILDREN_H

struct sc_statement;

/* Adds the children that have a device open to the statement (as many as fit, in the order in which
 * the Linux kernel lists them). */
void sc_children_find(struct sc_statement *statement);

#endif
