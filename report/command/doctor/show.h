/* Shows a diagnosis (diagnosis.h), as text or as JSON. */
#ifndef SC_REPORT_COMMAND_DOCTOR_SHOW_H
#define SC_REPORT_COMMAND_DOCTOR_SHOW_H

#include "report/command/doctor/diagnosis.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes the diagnosis for people: sections, a line for each finding, and a line for its remedy. */
void sc_show_text(FILE *out, const struct sc_diagnosis *diagnosis);

/* As report/command/doctor/schema.json has it. `program` and `trial` are NULL where there is none.
 */
void sc_show_json(FILE *out, const struct sc_diagnosis *diagnosis,
                  const struct sc_program_facts *program, const struct sc_trial_facts *trial);

#endif
