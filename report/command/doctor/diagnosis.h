/* Turns the facts that `safecopy doctor` has collected (facts.h) into findings, one a line, each
 * problem with a remedy. */
#ifndef SC_REPORT_COMMAND_DOCTOR_DIAGNOSIS_H
#define SC_REPORT_COMMAND_DOCTOR_DIAGNOSIS_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

#include <stdbool.h>
#include <stddef.h>

enum sc_level {
    SC_LEVEL_OK,
    SC_LEVEL_NOTE,    /* worth knowing; its remedy is optional */
    SC_LEVEL_PROBLEM, /* it hinders the library */
};

/* One finding. Its text contains words from files and programs, so it has to be escaped before a
 * terminal gets it. */
struct sc_finding {
    enum sc_level level;
    const char *section; /* "driver" */
    const char *id;      /* its name for programs that read the output: "driver-not-found" */
    const char *text;    /* a sentence without its end */
    const char *remedy;  /* NULL: none is wanted */
};

/* The findings. Empty if all is zero except the scratch. */
struct sc_diagnosis {
    struct sc_scratch *scratch;
    struct sc_finding *findings;
    size_t count, room;
    size_t problem_count;
};

/* Adds a finding. The text made from `format` is copied, the other texts are not. Pre: a problem
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

/* Returns true if the program can be started at all. If not, no trial is made. */
bool sc_diagnosis_is_startable(const struct sc_program_facts *facts);

#endif
