/* Makes the record of one run, or of a file that could not be read, as sc_reader.runs has it. */
#ifndef SC_REPORT_COMMAND_RUN_RECORD_H
#define SC_REPORT_COMMAND_RUN_RECORD_H

#include <jansson.h>
#include <stddef.h>

/* Makes a record without a run and a summary. The caller decrefs it. NULL: no memory. */
json_t *sc_run_record_make(const char *name);

/* Notes that nothing, or nothing more, of the file could be read, and why. */
void sc_run_record_set_unreadable(json_t *record, const char *why);

/* Notes that the file is no report, so its lines do not count. */
void sc_run_record_refuse_file(json_t *record);

void sc_run_record_add_bad_line(json_t *record, size_t number, const char *problem);

/* Adds a `coverage` line to the record. Equal ones replace each other, since the last one counts
 * them all. */
void sc_run_record_take_miss(json_t *record, json_t *miss);

#endif
