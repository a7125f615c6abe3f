/* The judging half of `safecopy doctor`: turns the facts (facts.h) into findings, one a line, with
 * a remedy for each problem. */
#ifndef SC_REPORT_COMMAND_DOCTOR_DIAGNOSIS_H
#define SC_REPORT_COMMAND_DOCTOR_DIAGNOSIS_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

#include <stdbool.h>
#include <stddef.h>

enum sc_level {
    SC_LEVEL_OK,
    SC_LEVEL_NOTE,    /* worth knowing; a remedy is for who wants more */
    SC_LEVEL_PROBLEM, /* something hinders the library */
};

/* One finding. Its text has words of files and programs, and is not fit for a terminal as it is. */
struct sc_finding {
    enum sc_level level;
    const char *section; /* "driver" */
    const char *id;      /* "driver-not-found": what programs may ask for */
    const char *text;    /* a sentence without its end */
    const char *remedy;  /* NULL: none is wanted */
};

/* With the scratch set and all else zero it has no findings. */
struct sc_diagnosis {
    struct sc_scratch *scratch;
    struct sc_finding *findings;
    size_t count, room;
    size_t problem_count;
};

/* Adds a finding. `format` and what it takes are copied, the other texts are not. Pre: a problem
 * has a remedy. */
__attribute__((format(printf, 6, 7))) void
sc_diagnosis_add(struct sc_diagnosis *diagnosis, enum sc_level level, const char *section,
                 const char *id, const char *remedy, const char *format, ...);

void sc_diagnosis_of_machine(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts);
void sc_diagnosis_of_guard(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts);
void sc_diagnosis_of_settings(struct sc_diagnosis *diagnosis,
                              const struct sc_settings_facts *facts);
void sc_diagnosis_of_program(struct sc_diagnosis *diagnosis, const struct sc_program_facts *facts);
void sc_diagnosis_of_trial(struct sc_diagnosis *diagnosis, const struct sc_trial_facts *facts);

/* Can the program be started at all? If not, no trial is made. */
bool sc_diagnosis_is_startable(const struct sc_program_facts *facts);

#endif
