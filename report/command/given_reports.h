/* Reads the reports that the command line names. */
#ifndef SC_REPORT_COMMAND_GIVEN_REPORTS_H
#define SC_REPORT_COMMAND_GIVEN_REPORTS_H

#include "report/command/reader.h"

#include <stdbool.h>

/* Reads all files at `paths` (up to a NULL); "-" is standard input. A file that is named twice, by
 * whatever paths, counts once. If the reader merges runs, files are read in the order of the
 * numbers in their names. False: some could not be read, and stderr was told which. */
bool sc_given_reports_read(struct sc_reader *reader, char *const *paths);

/* Says what sc_reader_add has returned for the file: nothing of 1, nor of what the reader has said
 * itself. `kind`: what it is not if it is none, "a report". Returns whether it could be read. */
bool sc_given_reports_tell(const char *path, int result, const char *kind);

#endif
