/* Makes the record of one run, or of a file that could not be read, as sc_reader.runs has it. */
#ifndef SC_REPORT_COMMAND_RUN_RECORD_H
#define SC_REPORT_COMMAND_RUN_RECORD_H

#include <jansson.h>
#include <stddef.h>

/* A new record, with no run and no summary yet. The caller decrefs it. NULL: out of memory. */
json_t *sc_run_record_make(const char *name);

/* Nothing, or nothing more, of the file is known, and why. */
void sc_run_record_set_unreadable(json_t *record, const char *why);

/* The file is no report, and its lines are none of one. */
void sc_run_record_refuse_file(json_t *record);

void sc_run_record_add_bad_line(json_t *record, size_t number, const char *problem);

/* Adds a `coverage` line to the record. Of equal ones only the last is kept, which counts them
 * all. */
void sc_run_record_take_miss(json_t *record, json_t *miss);

#endif
