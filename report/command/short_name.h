/* Shortens names of functions for people: those of C++ may have thousands of bytes of template
 * arguments. */
#ifndef SC_REPORT_COMMAND_SHORT_NAME_H
#define SC_REPORT_COMMAND_SHORT_NAME_H

#include "report/command/scratch.h"

/* Returns `name`, or, if it is longer than a line, a copy without its long arguments:
 * "std::_Function_handler<...>::_M_invoke(...)". */
const char *sc_short_name(struct sc_scratch *scratch, const char *name);

#endif
