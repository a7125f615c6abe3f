/* Reads and writes the file of --state: how much of each report a collector has accepted. A report
 * is identified by its first line, which names its process. */
#ifndef SC_REPORT_COMMAND_WATCH_WATCH_STATE_H
#define SC_REPORT_COMMAND_WATCH_WATCH_STATE_H

#include "report/command/table.h"
#include "report/command/watch/follow.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Reads the file. If `path` is NULL, or there is no file yet, returns an empty state. Returns NULL,
 * after a message on stderr, if the file is no state file. */
json_t *sc_watch_state_read(const char *path);

/* Returns the digest of a report's first line. */
struct sc_digest sc_watch_state_digest(const char *line, size_t size);

/* Returns how many bytes of the report were accepted. */
uint64_t sc_watch_state_find(const json_t *state, const struct sc_digest *begin);

/* Writes the file, completely or not at all. Returns false if that is not possible, after a message
 * the first time. */
bool sc_watch_state_write(const char *path, const struct sc_follow *follow);

#endif
