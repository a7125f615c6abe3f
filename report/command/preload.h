/* Sets up the environment in which a program is started, so that the loader preloads the library.
 */
#ifndef SC_REPORT_COMMAND_PRELOAD_H
#define SC_REPORT_COMMAND_PRELOAD_H

#include "report/command/scratch.h"

#include <stdbool.h>

/* Returns the path of the `safecopy` command itself; "" if the system does not tell. */
const char *sc_preload_command(struct sc_scratch *scratch);

/* Returns the path of the library, which is next to the command or where an installation puts it.
 * Returns NULL, after a message, if there is none. */
const char *sc_preload_find(struct sc_scratch *scratch);

/* Does the same as sc_preload_find without a message. *sought: the folder of the command. */
const char *sc_preload_look(struct sc_scratch *scratch, const char **sought);

/* Returns true if the path can be in LD_PRELOAD, where a blank or a colon would end it. */
bool sc_preload_can_name(const char *library);

/* Puts the library first in LD_PRELOAD, and removes other copies of it that are named there.
 * Returns false if that is not possible, after a message on stderr. */
bool sc_preload_set(struct sc_scratch *scratch, const char *library);

/* Has the driver load the library (CUDA_INJECTION64_PATH), and leaves LD_PRELOAD as it is. Returns
 * false, after a message, if the driver is to load another tool already. */
bool sc_preload_inject(const char *library);

#endif
