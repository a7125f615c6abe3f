#define _GNU_SOURCE 1
#include "report/command/fingerprint.h"

#include "report/command/table.h"

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
    sc_digest_word(digester, basename(path));
}

static void digest_call(struct sc_digester *digester, const struct sc_call *call)
{
    int64_t count = 0;
    for (size_t i = 0; i < call->stack.count; i++) {
        const struct sc_frame *frame = &call->stack.frames[i];
        if (!frame->is_own || frame->is_inlined)
            continue;
        digest_frame(digester, frame);
        count++;
    }
    if (count == 0)
        sc_digest_word(digester, call->api);
    sc_digest_number(digester, count);
}

const char *sc_fingerprint_make(struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    struct sc_digester digester;
    sc_digest_begin_fixed(&digester);
    sc_digest_word(&digester, hazard->code);
    digest_call(&digester, &hazard->copy);
    digest_call(&digester, &hazard->event);
    struct sc_digest digest = sc_digest_end(&digester);
    return sc_scratch_print(scratch, "%016" PRIx64 "%016" PRIx64, digest.words[0], digest.words[1]);
}
