/* Reads the reports that the command line names. */
#ifndef SC_REPORT_COMMAND_GIVEN_REPORTS_H
#define SC_REPORT_COMMAND_GIVEN_REPORTS_H

#include "report/command/reader.h"

#include <stdbool.h>

/* Reads all files at `paths` (up to a NULL); "-" is standard input. A file that is named twice, by
 * whatever paths, is read once. If the reader merges runs, files are read in the order of the
 * numbers in their names. Returns false if some could not be read, after naming them on stderr. */
bool sc_given_reports_read(struct sc_reader *reader, char *const *paths);

/* Writes a message about what sc_reader_add has returned for the file, unless it has read the file
 * or written a message itself. `kind`: what the file should be, such as "a report". Returns whether
 * the file could be read. */
bool sc_given_reports_tell(const char *path, int result, const char *kind);

#endif
