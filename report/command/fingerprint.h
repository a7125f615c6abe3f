/* What says that a hazard of one run is that of another: code, and the user's own frames without
 * addresses and lines (docs/report.md, Fingerprints).
 */
#ifndef SC_REPORT_COMMAND_FINGERPRINT_H
#define SC_REPORT_COMMAND_FINGERPRINT_H

#include "report/command/model.h"

enum { SC_FINGERPRINT_SIZE = 33 }; /* of hexadecimal digits with their NUL */

/* Makes the fingerprint of a hazard that is made but for it. */
void sc_fingerprint_make(char *text, const struct sc_shown *hazard);

#endif
