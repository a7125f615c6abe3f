/* Makes fingerprints, by which a hazard is recognised in another run: a digest of its code and of
 * the user's own frames on both sides. A frame without a name counts by its offset and the build id
 * of its module. */
#ifndef SC_REPORT_COMMAND_FINGERPRINT_H
#define SC_REPORT_COMMAND_FINGERPRINT_H

#include "report/command/frames_shown.h"
#include "report/command/scratch.h"
#include "report/command/table.h"

struct sc_call;
struct sc_shown;

/* The version of fingerprints: raised whenever a hazard gets another fingerprint than before. */
#define SC_FINGERPRINT_VERSION 3

/* Returns the innermost frame of the user's code in the call's stack, from which the fingerprint is
 * made; NULL: there is none. */
const struct sc_frame *sc_fingerprint_frame(const struct sc_call *call);

/* Returns a digest of the hazard's place in the code, source lines included. Hazards at one place
 * also have one fingerprint. */
struct sc_digest sc_fingerprint_place(const struct sc_shown *hazard);

/* Returns a digest of the place in the code that allocates memory: of the user's own functions
 * there, as in a fingerprint, or, without such frames, of the owner and the call. */
struct sc_digest sc_fingerprint_site(const char *kind, const char *owner, const char *api,
                                     const struct sc_frames *stack);

/* Returns true if each frame of the hazard's place has a source line. If not, the place is made of
 * offsets, several of which may be one line. */
bool sc_fingerprint_place_has_lines(const struct sc_shown *hazard);

/* Returns the hazard's fingerprint in hexadecimal digits, in the scratch. */
const char *sc_fingerprint_make(struct sc_scratch *scratch, const struct sc_shown *hazard);

/* Notes in the namings (namings.h) whether the frames of the fingerprint are known by names or by
 * offsets. */
void sc_fingerprint_note_namings(const struct sc_shown *hazard);

#endif
