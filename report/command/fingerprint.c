#define _GNU_SOURCE 1
#include "report/command/fingerprint.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_MAX_BYTES = 1023 };

/* Compilers number the copies that they make of a function: "step.constprop.0", "f() [clone ...]".
 */
static size_t length_of_name(const struct sc_frame *frame)
{
    const char *clone = strstr(frame->function, " [clone ");
    if (clone)
        return (size_t)(clone - frame->function);
    if (frame->is_python || strpbrk(frame->function, "(<"))
        return strlen(frame->function);
    return strcspn(frame->function, ".");
}

static void digest_frame(struct sc_digester *digester, const struct sc_frame *frame)
{
    const char *path = frame->is_python ? frame->file : frame->module;
    const char *offset = frame->offset ? frame->offset : "?";
    size_t length = frame->function ? length_of_name(frame) : strlen(offset);
    sc_digest_bytes(digester, frame->function ? frame->function : offset,
                    length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES);
    sc_digest_word(digester, path ? basename(path) : "");
}

/* Where in the function; with lines, of whatever build. */
static void digest_line(struct sc_digester *digester, const struct sc_frame *frame)
{
    bool has_line = frame->file && frame->line > 0;
    const char *offset = frame->offset ? frame->offset : "";
    sc_digest_word(digester, has_line ? basename(frame->file) : offset);
    sc_digest_number(digester, has_line ? frame->line : 0);
}

/* With lines what is inlined counts as well, since the lines of the calls are there. */
static bool counts(const struct sc_frame *frame, bool with_lines)
{
    return frame->is_own && (with_lines || !frame->is_inlined);
}

const struct sc_frame *sc_fingerprint_frame(const struct sc_call *call)
{
    for (size_t i = 0; i < call->stack.count; i++)
        if (counts(&call->stack.frames[i], false))
            return &call->stack.frames[i];
    return NULL;
}

/* A side without frames of the user's is known by its call, and its place by its whole stack. */
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

static struct sc_digest digest_hazard(const struct sc_shown *hazard, bool with_lines)
{
    struct sc_digester digester;
    (with_lines ? sc_digest_begin : sc_digest_begin_fixed)(&digester);
    sc_digest_word(&digester, hazard->code);
    digest_call(&digester, &hazard->copy, with_lines);
    digest_call(&digester, &hazard->event, with_lines);
    return sc_digest_end(&digester);
}

struct sc_digest sc_fingerprint_place(const struct sc_shown *hazard)
{
    return digest_hazard(hazard, true);
}

const char *sc_fingerprint_make(struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    struct sc_digest digest = digest_hazard(hazard, false);
    return sc_scratch_print(scratch, "%016" PRIx64 "%016" PRIx64, digest.words[0], digest.words[1]);
}
