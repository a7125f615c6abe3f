#include "common/hazard_words.h"
#include "common/op_kinds.h"

#include <stddef.h>

#define SC_HAZARD(code, name, subject, advice)                                                     \
    _Static_assert(sizeof name > 1 && sizeof advice > 1, #code " lacks a word");
#include "common/hazard.def"

#define WORD(words, index) word_of(words, sizeof words / sizeof *words, index)

/* Returns the word at the index, or "unknown" past the end of the table. */
static const char *word_of(const char *const *words, size_t count, unsigned index)
{
    return index < count ? words[index] : "unknown";
}

/* Returns the hazard's code as text. The texts of this file come from tables (*.def) in the order
 * of the enums. */
const char *sc_hazard_code_string(enum sc_hazard_code code)
{
    static const char *const words[] = {
#define SC_HAZARD(code, name, subject, advice) #code,
#include "common/hazard.def"
    };
    return WORD(words, code);
}

/* Returns the hazard's name for people and reports, such as "source-freed-in-flight". */
const char *sc_hazard_name(enum sc_hazard_code code)
{
    static const char *const words[] = {
#define SC_HAZARD(code, name, subject, advice) name,
#include "common/hazard.def"
    };
    return WORD(words, code);
}

/* Returns what the hazard is about (a copy, a capture, memory, ...), by which messages choose
 * their words. */
enum sc_hazard_subject sc_hazard_subject(enum sc_hazard_code code)
{
    static const enum sc_hazard_subject subjects[] = {
#define SC_HAZARD(code, name, subject, advice) subject,
#include "common/hazard.def"
    };
    return subjects[code];
}

/* Returns the report's word for how sure the hazard is: "observed", if the operation was seen
 * incomplete at the event, else "latent". */
const char *sc_hazard_certainty_string(enum sc_certainty certainty)
{
    return certainty == SC_OBSERVED ? "observed" : "latent";
}

/* Returns the word for what the library did about the hazard. */
const char *sc_hazard_action_string(enum sc_action action)
{
    static const char *const words[] = {
#define SC_ACTION(action, word, outcome) word,
#include "common/hazard.def"
    };
    return WORD(words, action);
}

/* Returns the word for the kind of host memory. */
const char *sc_hazard_buffer_kind_string(enum sc_buffer_kind kind)
{
    static const char *const words[] = {
#define SC_BUFFER_KIND(kind, word) word,
#include "common/op_kinds.def"
    };
    return WORD(words, kind);
}

/* Returns the word for the direction of the operation. */
const char *sc_hazard_direction_string(enum sc_direction direction)
{
    static const char *const words[] = {
#define SC_DIRECTION(direction, word) word,
#include "common/op_kinds.def"
    };
    return WORD(words, direction);
}
