#define _GNU_SOURCE 1
#include "report/command/fingerprint.h"
#include "report/command/shown.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_MAX_BYTES = 1023 };

/* Returns the length of the function's name without what compilers add to copies that they make of
 * it: "step.constprop.0", "f() [clone ...]". */
static size_t length_of_name(const struct sc_frame *frame)
{
    const char *clone = strstr(frame->function, " [clone ");
    if (clone)
        return (size_t)(clone - frame->function);
    if (frame->is_python || strpbrk(frame->function, "(<"))
        return strlen(frame->function);
    return strcspn(frame->function, ".");
}

/* Adds a frame that is known by its offset only, which is another place in another build. */
static void digest_offset(struct sc_digester *digester, const struct sc_frame *frame)
{
    sc_digest_word(digester, frame->offset ? frame->offset : "");
    sc_digest_word(digester, frame->build_id ? frame->build_id : "?");
}

/* Adds what stays of a frame when its program is built anew: the function and the file's name. */
static void digest_frame(struct sc_digester *digester, const struct sc_frame *frame)
{
    const char *path = frame->is_python ? frame->file : frame->module;
    size_t length = frame->function ? length_of_name(frame) : 0;
    if (frame->function)
        sc_digest_bytes(digester, frame->function,
                        length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES);
    else
        digest_offset(digester, frame);
    sc_digest_word(digester, path ? basename(path) : "");
}

/* Digests where in its function a frame is: by its file and line, which are the same in every
 * build, or by its offset. */
static void digest_line(struct sc_digester *digester, const struct sc_frame *frame)
{
    bool has_line = frame->file && frame->line > 0;
    if (has_line)
        sc_digest_word(digester, basename(frame->file));
    else
        digest_offset(digester, frame);
    sc_digest_number(digester, has_line ? frame->line : 0);
}

/* Does the frame count for the fingerprint: is it the user's own? Inlined functions count only
 * with lines, since other compilers inline others. */
static bool counts(const struct sc_frame *frame, bool with_lines)
{
    return frame->is_own && (with_lines || !frame->is_inlined);
}

/* Returns the first frame that counts for the fingerprint, or NULL if none does. */
const struct sc_frame *sc_fingerprint_frame(const struct sc_call *call)
{
    for (size_t i = 0; i < call->stack.count; i++)
        if (counts(&call->stack.frames[i], false))
            return &call->stack.frames[i];
    return NULL;
}

/* Digests one of the hazard's calls with its stack. A side without frames of the user's is known by
 * its call, and its place by its whole stack. */
static void digest_call(struct sc_digester *digester, const struct sc_call *call, bool with_lines)
{
    int64_t count = 0;
    for (size_t i = 0; i < call->stack.count; i++)
        count += counts(&call->stack.frames[i], with_lines);
    for (size_t i = 0; i < call->stack.count; i++) {
        const struct sc_frame *frame = &call->stack.frames[i];
        if (!counts(frame, with_lines) && !(count == 0 && with_lines))
            continue;
        digest_frame(digester, frame);
        if (with_lines)
            digest_line(digester, frame);
    }
    if (count == 0)
        sc_digest_word(digester, call->driver_api);
    sc_digest_number(digester, count);
}

/* Makes the digest of what is the same in two runs: the code, the calls and the stacks. */
static struct sc_digest digest_hazard(const struct sc_shown *hazard, bool with_lines)
{
    struct sc_digester digester;
    (with_lines ? sc_digest_begin : sc_digest_begin_fixed)(&digester);
    sc_digest_word(&digester, hazard->code);
    digest_call(&digester, &hazard->copy, with_lines);
    digest_call(&digester, &hazard->event, with_lines);
    return sc_digest_end(&digester);
}

/* Returns a digest of the place of the hazard: with source lines, by which places of one hazard
 * are told apart. */
struct sc_digest sc_fingerprint_place(const struct sc_shown *hazard)
{
    return digest_hazard(hazard, true);
}

/* Returns the digest of a place that allocates memory. */
struct sc_digest sc_fingerprint_site(const char *kind, const char *owner, const char *api,
                                     const struct sc_frames *stack)
{
    const struct sc_call call = {.driver_api = api, .stack = *stack};
    struct sc_digester digester;
    sc_digest_begin_fixed(&digester);
    sc_digest_word(&digester, kind);
    sc_digest_word(&digester, owner);
    digest_call(&digester, &call, false);
    return sc_digest_end(&digester);
}

/* Returns the fingerprint by which a baseline knows the hazard again: without lines, which change
 * with each edit. */
const char *sc_fingerprint_make(struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    struct sc_digest digest = digest_hazard(hazard, false);
    return sc_scratch_print(scratch, "%016" PRIx64 "%016" PRIx64, digest.words[0], digest.words[1]);
}

/* Are the lines known of all frames that count? */
static bool has_lines(const struct sc_call *call)
{
    int64_t count = 0;
    for (size_t i = 0; i < call->stack.count; i++) {
        const struct sc_frame *frame = &call->stack.frames[i];
        if (!counts(frame, true))
            continue;
        count++;
        if (!frame->file || frame->line <= 0)
            return false;
    }
    return count > 0;
}

/* Do all of the user's frames of both calls have lines? Else places are told apart by offsets,
 * which another build changes. */
bool sc_fingerprint_place_has_lines(const struct sc_shown *hazard)
{
    return has_lines(&hazard->copy) && has_lines(&hazard->event);
}

/* Records, for each module, whether its frames were named or known by offsets alone: named and
 * unnamed ones cannot be compared. */
static void note_call(const struct sc_call *call)
{
    for (size_t i = 0; i < call->stack.count; i++) {
        const struct sc_frame *frame = &call->stack.frames[i];
        if (!frame->naming || !counts(frame, false))
            continue;
        if (!frame->function)
            frame->naming->has_offsets = true;
        else if (frame->is_guessed)
            frame->naming->has_guesses = true;
        else
            frame->naming->has_names = true;
    }
}

/* Notes by which build each frame of the hazard is named, to find out what a baseline can be
 * compared with. */
void sc_fingerprint_note_namings(const struct sc_shown *hazard)
{
    note_call(&hazard->copy);
    note_call(&hazard->event);
}
