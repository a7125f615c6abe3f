/* Words and remedies for the errors with which the driver refuses to start. */
#ifndef SC_REPORT_COMMAND_DOCTOR_DRIVER_ERRORS_H
#define SC_REPORT_COMMAND_DOCTOR_DRIVER_ERRORS_H

struct sc_driver_error {
    int number; /* as cuInit returns it */
    const char *name, *meaning, *remedy;
};

/* Returns the row of the error, never NULL; if there is none, one whose `name` is NULL. */
const struct sc_driver_error *sc_driver_errors_find(int number);

#endif
