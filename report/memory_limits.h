/* Writes the member `memory_limits` of the run line: limits of the process's memory besides the
 * size of the device. These are the variable of MPS, and the limits of the cgroup, to which
 * page-locked memory is charged. */
#ifndef SC_REPORT_MEMORY_LIMITS_H
#define SC_REPORT_MEMORY_LIMITS_H

struct sc_text;

/* Appends the member `memory_limits` (of MPS, of cgroups) if there are any limits. Reads small
 * files. Locks: none. Not for a signal handler. */
void sc_memory_limits_put(struct sc_text *line);

#endif
