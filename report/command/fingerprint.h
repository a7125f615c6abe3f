/* What says that hazards are the same: the code, and the user's own frames on both sides. A frame
 * without a name is known by its offset, together with the build id of its module.
 *
 * Hazards of one place have the same lines as well, and are shown as one. A fingerprint, by which a
 * hazard of one run is known in another, goes without addresses and lines (docs/report.md, Places,
 * Fingerprints).
 */
#ifndef SC_REPORT_COMMAND_FINGERPRINT_H
#define SC_REPORT_COMMAND_FINGERPRINT_H

#include "report/command/frames_shown.h"
#include "report/command/scratch.h"
#include "report/command/table.h"

struct sc_call;
struct sc_shown;

/* Grows when equal hazards have other fingerprints than before. */
#define SC_FINGERPRINT_VERSION 3

/* The innermost frame of the user's that a fingerprint goes by; NULL: none. */
const struct sc_frame *sc_fingerprint_frame(const struct sc_call *call);

/* The place of a hazard: only hazards of one fingerprint have one place. */
struct sc_digest sc_fingerprint_place(const struct sc_shown *hazard);

/* Where memory is asked for: by the user's own functions, as a fingerprint has them, and without
 * such frames by the owner and the call. */
struct sc_digest sc_fingerprint_site(const char *kind, const char *owner, const char *api,
                                     const struct sc_frames *stack);

/* Whether lines say where all of it is. Without them an offset does, of which a line may have
 * several. */
bool sc_fingerprint_place_has_lines(const struct sc_shown *hazard);

/* In hexadecimal digits, in the scratch. */
const char *sc_fingerprint_make(struct sc_scratch *scratch, const struct sc_shown *hazard);

/* Notes in the namings by what the fingerprint knows the frames that it goes by. */
void sc_fingerprint_note_namings(const struct sc_shown *hazard);

#endif
