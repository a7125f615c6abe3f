/* Launches of graphs: one operation on the stream for each run of host memory that the exec names.
 *
 * An exec that names memory freed since (SC401) or a frame that has returned (SC402) is reported
 * before it runs. Locks: the tracker's inside.
 */
#ifndef SC_INTERPOSE_LAUNCHES_H
#define SC_INTERPOSE_LAUNCHES_H

int sc_launches_init(void); /* 0 or -ENOMEM; once, before any launch */

/* The exec is destroyed; others of the same handle are none of its business. */
void sc_launches_forget(const void *exec);

#endif
