/* Fetches debug files by build id from the servers of $DEBUGINFOD_URLS. Without the variable, or
 * without libdebuginfod, no server is asked.
 *
 * All modules together may take $DEBUGINFOD_MAXTIME seconds, or a minute. A file may have
 * $DEBUGINFOD_MAXSIZE bytes, or 2 GB, and no more than the free space. If a limit is exceeded while
 * a file is fetched, no server is asked any more, and one message says so. A file that
 * libdebuginfod refuses for its size is left out alone, also with a message. */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_DEBUGINFOD_H
#define SC_REPORT_COMMAND_SYMBOLIZER_DEBUGINFOD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* State about the servers that is shared by the processes which read modules. All zero at first. */
struct sc_debuginfod_shared {
    _Atomic bool is_asking, was_told, is_given_up;
    _Atomic int64_t waited_ns;      /* for all files so far */
    _Atomic uint64_t fetched_bytes; /* of the file that is being fetched */
};

/* Has the following calls use this shared state, which must stay valid. */
void sc_debuginfod_begin(struct sc_debuginfod_shared *shared);

/* How long all answers together may take. */
int64_t sc_debuginfod_time_max_ns(void);

/* Fetches the debug file of the build id (hexadecimal). Returns its path in libdebuginfod's cache,
 * which the caller frees, or NULL. The file may have any content. */
char *sc_debuginfod_fetch(const char *build_id);

#endif
