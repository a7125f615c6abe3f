#include "track/hazard.h"

static const char *word_of(const char *const *words, size_t count, unsigned index)
{
    return index < count ? words[index] : "unknown";
}

#define WORD(words, index) word_of(words, sizeof(words) / sizeof((words)[0]), (unsigned)(index))

const char *sc_hazard_code_string(enum sc_hazard_code code)
{
    static const char *const words[] = {
#define X(code, name) #code,
        SC_HAZARD_CODES(X)
#undef X
    };
    return WORD(words, code);
}

const char *sc_hazard_name(enum sc_hazard_code code)
{
    static const char *const words[] = {
#define X(code, name) name,
        SC_HAZARD_CODES(X)
#undef X
    };
    return WORD(words, code);
}

const char *sc_hazard_certainty_string(enum sc_certainty certainty)
{
    static const char *const words[] = {[SC_LATENT] = "latent", [SC_OBSERVED] = "observed"};
    return WORD(words, certainty);
}

const char *sc_hazard_action_string(enum sc_action action)
{
    static const char *const words[] = {
        [SC_ACTION_DEFERRED] = "deferred",       [SC_ACTION_STALLED] = "stalled",
        [SC_ACTION_SNAPSHOTTED] = "snapshotted", [SC_ACTION_ORDERED] = "ordered",
        [SC_ACTION_REROUTED] = "rerouted",       [SC_ACTION_HELD] = "held",
        [SC_ACTION_REPORTED] = "reported",
    };
    return WORD(words, action);
}

const char *sc_hazard_buffer_kind_string(enum sc_buffer_kind kind)
{
    static const char *const words[] = {
        [SC_PINNED] = "pinned",   [SC_REGISTERED] = "registered", [SC_PAGEABLE] = "pageable",
        [SC_MANAGED] = "managed", [SC_STACK] = "stack",           [SC_DEVICE] = "device",
        [SC_NO_BUFFER] = "none",
    };
    return WORD(words, kind);
}

const char *sc_hazard_direction_string(enum sc_direction direction)
{
    static const char *const words[] = {
        [SC_H2D] = "H2D",       [SC_D2H] = "D2H",           [SC_H2H] = "H2H",
        [SC_MEMSET] = "memset", [SC_PREFETCH] = "prefetch", [SC_NO_DIRECTION] = "none",
    };
    return WORD(words, direction);
}
