/* Fetches debug files by build id from the servers of $DEBUGINFOD_URLS. Without the variable, or
 * without libdebuginfod, no server is asked.
 *
 * All modules together may take $DEBUGINFOD_MAXTIME seconds, or a minute. A file may have
 * $DEBUGINFOD_MAXSIZE bytes, or 2 GB, and no more than there is room for. If one is exceeded while
 * a file comes, no server is asked any more, and one line says so. A file that libdebuginfod
 * refuses for its size is left out alone, which is said as well. */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_DEBUGINFOD_H
#define SC_REPORT_COMMAND_SYMBOLIZER_DEBUGINFOD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What the processes that read modules, one each, share about the servers. All zero at first. */
struct sc_debuginfod_shared {
    _Atomic bool is_asking, was_told, is_given_up;
    _Atomic int64_t waited_ns;      /* for all that was asked for */
    _Atomic uint64_t fetched_bytes; /* of what is asked for now */
};

/* Has what follows share it; it must live on. */
void sc_debuginfod_begin(struct sc_debuginfod_shared *shared);

/* How long all answers together may take. */
int64_t sc_debuginfod_time_max_ns(void);

/* Fetches the debug file of the build id, which is hexadecimal. Its path, which the caller frees,
 * or NULL. The file is in libdebuginfod's cache, and may be anything. */
char *sc_debuginfod_fetch(const char *build_id);

#endif
