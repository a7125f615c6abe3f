/* By which mechanism pages are to be kept off: the choice that `guard` leaves to the library, and
 * that `safecopy doctor` tells of.
 *
 * Pure, and signal safe.
 */
#ifndef SC_REPORT_MECHANISM_H
#define SC_REPORT_MECHANISM_H

#include "report/options.h"

#include <stdbool.h>

/* Is userfaultfd to be asked for, for the memory that it can serve? The rest, and all where it is
 * not to be had (report/userfaultfd.h), is mprotect's. */
bool sc_mechanism_is_userfaultfd(enum sc_guard_mode guard);

#endif
