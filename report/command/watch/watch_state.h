/* Reads and writes the file of --state: how far a collector has taken each report. A report is
 * known by its first line, which names its process. */
#ifndef SC_REPORT_COMMAND_WATCH_WATCH_STATE_H
#define SC_REPORT_COMMAND_WATCH_WATCH_STATE_H

#include "report/command/table.h"
#include "report/command/watch/follow.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Reads the file. If `path` is NULL, or there is no file yet, nothing was taken. NULL: the file is
 * no such file, and stderr was told. */
json_t *sc_watch_state_read(const char *path);

/* Of a report's first line. */
struct sc_digest sc_watch_state_digest(const char *line, size_t size);

/* How many bytes of the report were taken. */
uint64_t sc_watch_state_find(const json_t *state, const struct sc_digest *begin);

/* False after it has said, once, that it cannot be written. It is there whole, or as it was. */
bool sc_watch_state_write(const char *path, const struct sc_follow *follow);

#endif
