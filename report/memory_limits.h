/* Who else limits the memory of this process, beside the device: the variable of MPS, and the
 * cgroup, which page-locked memory counts for.
 */
#ifndef SC_REPORT_MEMORY_LIMITS_H
#define SC_REPORT_MEMORY_LIMITS_H

struct sc_text;

/* Appends "memory_limits" where there are any. Reads small files. Locks: none. Not for a signal
 * handler.
 */
void sc_memory_limits_put(struct sc_text *line);

#endif
