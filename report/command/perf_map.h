/* Finds names of code that a process made at run time (a JIT), in the file that such a process
 * writes for perf.
 *
 * The file is /tmp/perf-PID.map; `python -X perf`, Julia, V8 and others write it. It is used only
 * if its owner is the reader or root. */
#ifndef SC_REPORT_COMMAND_PERF_MAP_H
#define SC_REPORT_COMMAND_PERF_MAP_H

#include <stdint.h>

struct sc_perf_map;

/* Opens the map of a process on this machine; NULL: there is none that may be used. */
struct sc_perf_map *sc_perf_map_open(int64_t pid);
void sc_perf_map_close(struct sc_perf_map *map);

/* Returns the name of the function that contains the byte before `address` (a return address),
 * valid until the close; NULL: not known. */
const char *sc_perf_map_find(const struct sc_perf_map *map, uint64_t address);

#endif
