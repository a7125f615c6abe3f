/* Debug files from the servers of $DEBUGINFOD_URLS, which libdw asks by build id where it finds
 * none on this machine. Without the variable, or without libdebuginfod, nobody is asked.
 */
#ifndef SC_REPORT_COMMAND_DEBUGINFOD_H
#define SC_REPORT_COMMAND_DEBUGINFOD_H

#include <elfutils/libdwfl.h>

/* Has stderr tell of what is fetched for `session`, and the servers given up once all sessions
 * together have waited for them for $DEBUGINFOD_MAXTIME seconds, or a minute. */
void sc_debuginfod_watch(Dwfl *session);

#endif
