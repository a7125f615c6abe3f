#include "report/command/hazard_digest.h"

#include "report/command/fields.h"

/* Returns the digest of what a frame means, however its record is written. */
static struct sc_digest digest_frame(const json_t *frame)
{
    struct sc_digester digester;
    bool has_file = json_object_get(frame, "file") != NULL;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, sc_field_string(frame, "module", ""));
    sc_digest_word(&digester, sc_field_string(frame, "offset", ""));
    sc_digest_number(&digester, has_file);
    sc_digest_word(&digester, sc_field_string(frame, "file", ""));
    sc_digest_number(&digester, has_file ? sc_field_number(frame, "line") : 0);
    sc_digest_word(&digester, sc_field_string(frame, "function", ""));
    return sc_digest_end(&digester);
}

static bool is_string_or_null(const json_t *value)
{
    return json_is_string(value) || json_is_null(value);
}

/* Has the record the members by which frames are told apart and named? */
static bool is_frame(const json_t *frame)
{
    const json_t *line = json_object_get(frame, "line");
    if (json_object_get(frame, "file"))
        return json_is_string(json_object_get(frame, "file")) &&
               json_is_string(json_object_get(frame, "function")) &&
               (json_is_integer(line) || json_is_null(line));
    return is_string_or_null(json_object_get(frame, "module")) &&
           json_is_string(json_object_get(frame, "offset")) &&
           is_string_or_null(json_object_get(frame, "symbol"));
}

/* Digests what the frame means. Returns false if it is no frame. The digest of a frame that many
 * lines have is made once. */
static bool find_meaning(struct sc_piece *piece, const json_t *frame, struct sc_digest *meaning)
{
    if (piece && piece->is_digested) {
        *meaning = piece->meaning;
        return true;
    }
    if (!is_frame(frame))
        return false;
    *meaning = digest_frame(frame);
    if (piece) {
        piece->meaning = *meaning;
        piece->is_digested = true;
    }
    return true;
}

/* Records in which module the frame is. The module of each frame counts among those of the run. */
static void note_module(struct sc_findings *findings, struct sc_piece *piece, const json_t *frame)
{
    const char *module;
    if (piece && piece->run == findings->ended_runs + 1)
        return;
    if (piece)
        piece->run = findings->ended_runs + 1;
    module = sc_field_string(frame, "module", NULL);
    if (module)
        sc_builds_note_use(&findings->builds, module);
}

/* Adds a stack to the digest. Returns false if one of its frames is damaged. */
static bool digest_stack(struct sc_digester *digester, struct sc_findings *findings,
                         const json_t *side)
{
    size_t index;
    json_t *frame;
    const json_t *stack = json_object_get(side, "stack");
    sc_digest_number(digester, (int64_t)json_array_size(stack));
    if (json_array_size(stack) == 0)
        sc_digest_word(digester, sc_field_string(side, "api", ""));
    json_array_foreach(stack, index, frame)
    {
        struct sc_digest meaning;
        struct sc_piece *piece = sc_pieces_of_value(&findings->pieces, frame);
        if (!find_meaning(piece, frame, &meaning))
            return false;
        note_module(findings, piece, frame);
        sc_digest_number(digester, (int64_t)meaning.words[0]);
        sc_digest_number(digester, (int64_t)meaning.words[1]);
    }
    return true;
}

/* Makes the digest by which hazards with the same code and stacks become one finding. Returns false
 * if a frame is damaged. */
bool sc_hazard_digest_make(struct sc_findings *findings, const json_t *hazard,
                           struct sc_digest *digest)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, sc_field_string(hazard, "code", ""));
    bool are_frames = digest_stack(&digester, findings, json_object_get(hazard, "copy")) &&
                      digest_stack(&digester, findings, json_object_get(hazard, "event"));
    *digest = sc_digest_end(&digester);
    return are_frames;
}
