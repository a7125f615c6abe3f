/* Sets the environment of a program that is started so that the loader preloads the library. */
#ifndef SC_REPORT_COMMAND_PRELOAD_H
#define SC_REPORT_COMMAND_PRELOAD_H

#include "report/command/scratch.h"

#include <stdbool.h>

/* The path of the `safecopy` command itself; "" if the system does not tell. */
const char *sc_preload_command(struct sc_scratch *scratch);

/* The library beside the command, or where an installation has it. NULL after it has said that
 * there is none. */
const char *sc_preload_find(struct sc_scratch *scratch);

/* Finds the library as sc_preload_find does, without saying anything. *sought: the folder of the
 * command. */
const char *sc_preload_look(struct sc_scratch *scratch, const char **sought);

/* LD_PRELOAD cannot quote: a blank or a colon in a path would end it. */
bool sc_preload_can_name(const char *library);

/* Puts the library into LD_PRELOAD, before what that names already; a library of ours that it names
 * is not loaded twice. False: it cannot be, and stderr was told why. */
bool sc_preload_set(struct sc_scratch *scratch, const char *library);

/* Has the driver load the library (CUDA_INJECTION64_PATH), and leaves LD_PRELOAD as it is. False
 * after it has said which tool the driver is to load instead. */
bool sc_preload_inject(const char *library);

#endif
