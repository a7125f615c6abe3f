/* What says that a hazard of one run is that of another: code, and the user's own frames without
 * addresses and lines (docs/report.md, Fingerprints).
 */
#ifndef SC_REPORT_COMMAND_FINGERPRINT_H
#define SC_REPORT_COMMAND_FINGERPRINT_H

#include "report/command/model.h"

/* In hexadecimal digits, in the scratch. */
const char *sc_fingerprint_make(struct sc_scratch *scratch, const struct sc_shown *hazard);

#endif
