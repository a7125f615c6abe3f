#define _GNU_SOURCE 1
#include "report/command/filter.h"

#include "report/command/glob.h"
#include "report/command/say.h"
#include "report/nearest.h"

#include <stdlib.h>
#include <string.h>

typedef bool matcher(const char *pattern, const struct sc_shown *hazard);

struct term {
    struct term *next;
    matcher *matches;
    bool is_contrary;
    char *pattern; /* points into sc_filter.text */
};

struct sc_filter {
    struct term *terms;
    char text[];
};

static bool has_code(const char *pattern, const struct sc_shown *hazard)
{
    return sc_glob_matches(pattern, hazard->code);
}

static bool has_name(const char *pattern, const struct sc_shown *hazard)
{
    return sc_glob_matches(pattern, hazard->name);
}

static bool has_certainty(const char *pattern, const struct sc_shown *hazard)
{
    return sc_glob_matches(pattern, hazard->certainty);
}

static bool has_action(const char *pattern, const struct sc_shown *hazard)
{
    return sc_glob_matches(pattern, hazard->action);
}

static bool has_label(const char *pattern, const struct sc_shown *hazard)
{
    return sc_glob_matches(pattern, hazard->label ? hazard->label : "");
}

typedef bool frame_matcher(const char *pattern, const struct sc_frame *frame);

static bool has_frame(const char *pattern, const struct sc_shown *hazard, frame_matcher *matches)
{
    const struct sc_call *const calls[] = {&hazard->event, &hazard->copy, &hazard->freed};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        for (size_t at = 0; at < calls[i]->stack.count; at++)
            if (matches(pattern, &calls[i]->stack.frames[at]))
                return true;
    return false;
}

/* A pattern without a folder is about the last part of the path. */
static bool is_at(const char *pattern, const char *path)
{
    if (!path)
        return false;
    return sc_glob_matches(pattern, strchr(pattern, '/') ? path : basename(path));
}

static bool is_in_file(const char *pattern, const struct sc_frame *frame)
{
    return is_at(pattern, frame->file);
}

static bool is_in_module(const char *pattern, const struct sc_frame *frame)
{
    return is_at(pattern, frame->module);
}

static bool is_in_function(const char *pattern, const struct sc_frame *frame)
{
    return frame->function && sc_glob_matches(pattern, frame->function);
}

static bool has_file(const char *pattern, const struct sc_shown *hazard)
{
    return has_frame(pattern, hazard, is_in_file);
}

static bool has_module(const char *pattern, const struct sc_shown *hazard)
{
    return has_frame(pattern, hazard, is_in_module);
}

static bool has_function(const char *pattern, const struct sc_shown *hazard)
{
    return has_frame(pattern, hazard, is_in_function);
}

static const struct {
    const char *name;
    matcher *matches;
} keys[] = {
    {"code", has_code},     {"name", has_name},   {"certainty", has_certainty},
    {"action", has_action}, {"file", has_file},   {"function", has_function},
    {"module", has_module}, {"label", has_label},
};

enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

static const char *key_name(unsigned index)
{
    return index < KEY_COUNT ? keys[index].name : NULL;
}

/* A term as it stands in the text, and where. */
struct part {
    char *text;
    size_t column;
};

static bool refuse(const struct part *part, const char *why, const char *word)
{
    sc_say("--filter: column %zu: '%s' %s%s", part->column, part->text, why, word);
    return false;
}

static matcher *find_key(const char *name, size_t length)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (strlen(keys[i].name) == length && memcmp(keys[i].name, name, length) == 0)
            return keys[i].matches;
    return NULL;
}

static bool take_part(struct sc_filter *filter, const struct part *part)
{
    bool is_contrary = part->text[0] == '!';
    char *key = part->text + is_contrary, *equals = strchr(key, '=');
    size_t length = equals ? (size_t)(equals - key) : strlen(key);
    matcher *matches = find_key(key, length);
    if (!matches && length > 0)
        return refuse(part, "names no key; the nearest is ",
                      sc_nearest_word(key, length, key_name));
    if (!matches || !equals || equals[1] == '\0')
        return refuse(part, "is not KEY=PATTERN", "");
    struct term *term = malloc(sizeof *term);
    if (!term)
        return refuse(part, "cannot be kept: out of memory", "");
    *term = (struct term){filter->terms, matches, is_contrary, equals + 1};
    filter->terms = term;
    return true;
}

static bool take_text(struct sc_filter *filter)
{
    char *rest = filter->text;
    struct part part;
    while ((part.text = strsep(&rest, ",")) != NULL) {
        part.column = (size_t)(part.text - filter->text) + 1;
        if (!take_part(filter, &part))
            return false;
    }
    return true;
}

struct sc_filter *sc_filter_parse(const char *text)
{
    struct sc_filter *filter = calloc(1, sizeof *filter + strlen(text) + 1);
    if (!filter)
        return NULL;
    strcpy(filter->text, text);
    if (take_text(filter))
        return filter;
    sc_filter_free(filter);
    return NULL;
}

void sc_filter_free(struct sc_filter *filter)
{
    while (filter && filter->terms) {
        struct term *term = filter->terms;
        filter->terms = term->next;
        free(term);
    }
    free(filter);
}

bool sc_filter_takes(const struct sc_filter *filter, const struct sc_shown *hazard)
{
    const struct term *term = filter ? filter->terms : NULL;
    while (term && term->matches(term->pattern, hazard) != term->is_contrary)
        term = term->next;
    return !term;
}
