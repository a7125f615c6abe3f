/* Names of code that a process made at run time, for the command.
 *
 * A JIT may say in /tmp/perf-PID.map what it has put where, as perf wants it: `python -X perf`,
 * Julia, V8 and others do. The file is believed only if its owner is the reader or root.
 */
#ifndef SC_REPORT_COMMAND_PERF_MAP_H
#define SC_REPORT_COMMAND_PERF_MAP_H

#include <stdint.h>

struct sc_perf_map;

/* The map of a process on this machine; NULL if there is none to be believed. */
struct sc_perf_map *sc_perf_map_open(int64_t pid);
void sc_perf_map_close(struct sc_perf_map *map);

/* The name of the function that contains the address before `address`, where a call is; NULL if not
 * known. Valid until the close. */
const char *sc_perf_map_find(const struct sc_perf_map *map, uint64_t address);

#endif
