/* Fingerprints, by which a hazard is known again in another run: made of its code, and of the
 * user's own frames on both sides. A frame without a name counts by its offset, together with the
 * build id of its module. */
#ifndef SC_REPORT_COMMAND_FINGERPRINT_H
#define SC_REPORT_COMMAND_FINGERPRINT_H

#include "report/command/frames_shown.h"
#include "report/command/scratch.h"
#include "report/command/table.h"

struct sc_call;
struct sc_shown;

/* The version of fingerprints: raised whenever a hazard gets another fingerprint than before. */
#define SC_FINGERPRINT_VERSION 3

/* The innermost frame of the user's that a fingerprint goes by; NULL: none. */
const struct sc_frame *sc_fingerprint_frame(const struct sc_call *call);

/* The digest of the hazard's place in the code, lines included: hazards of one place also have one
 * fingerprint. */
struct sc_digest sc_fingerprint_place(const struct sc_shown *hazard);

/* Where memory is asked for: by the user's own functions, as a fingerprint has them, and without
 * such frames by the owner and the call. */
struct sc_digest sc_fingerprint_site(const char *kind, const char *owner, const char *api,
                                     const struct sc_frames *stack);

/* Does a line of source say where each of the place's frames is? If not, its offset does, of which
 * one line may have several. */
bool sc_fingerprint_place_has_lines(const struct sc_shown *hazard);

/* In hexadecimal digits, in the scratch. */
const char *sc_fingerprint_make(struct sc_scratch *scratch, const struct sc_shown *hazard);

/* Notes in the namings (namings.h) whether the frames that the fingerprint is made of are known by
 * names or by offsets. */
void sc_fingerprint_note_namings(const struct sc_shown *hazard);

#endif
