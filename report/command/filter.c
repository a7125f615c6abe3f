#define _GNU_SOURCE 1
#include "report/command/filter.h"

#include "report/command/glob.h"
#include "report/command/say.h"
#include "report/command/shown.h"
#include "report/nearest.h"

#include <stdio.h>
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

/* Does any frame of the hazard's stacks match? */
static bool has_frame(const char *pattern, const struct sc_shown *hazard, frame_matcher *matches)
{
    const struct sc_call *const calls[] = {&hazard->event, &hazard->copy, &hazard->freed};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        for (size_t at = 0; at < calls[i]->stack.count; at++)
            if (matches(pattern, &calls[i]->stack.frames[at]))
                return true;
    return false;
}

/* Does the pattern fit the path? A pattern without a folder is about the last part of the path. */
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

/* Has the frame's function a name that matches? For function= of --filter. */
static bool is_in_function(const char *pattern, const struct sc_frame *frame)
{
    return frame->function && sc_glob_matches(pattern, frame->function);
}

/* Has one of the hazard's frames a file that matches? For file= of --filter. */
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

/* What a field may hold, up to a NULL. */
static const char *const codes[] = {
#define SC_HAZARD(code, name, subject, advice) #code,
#include "common/hazard.def"
    NULL};
static const char *const names[] = {
#define SC_HAZARD(code, name, subject, advice) name,
#include "common/hazard.def"
    NULL};
static const char *const certainties[] = {"observed", "latent", NULL};
static const char *const actions[] = {
#define SC_ACTION(action, word, outcome) word,
#include "common/hazard.def"
    NULL};

static const struct key {
    const char *name;
    matcher *matches;
    const char *const *words; /* NULL: any text */
} keys[] = {
    {"code", has_code, codes},
    {"name", has_name, names},
    {"certainty", has_certainty, certainties},
    {"action", has_action, actions},
    {"file", has_file, NULL},
    {"function", has_function, NULL},
    {"module", has_module, NULL},
    {"label", has_label, NULL},
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

/* Writes to stderr what is wrong with --filter, and at which column. Returns false, so that
 * callers can return that. */
static bool refuse(const struct part *part, const char *why, const char *word)
{
    sc_say("--filter: column %zu: '%s' %s%s", part->column, part->text, why, word);
    return false;
}

/* Returns the key of --filter with this name; NULL: there is none. */
static const struct key *find_key(const char *name, size_t length)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (strlen(keys[i].name) == length && memcmp(keys[i].name, name, length) == 0)
            return &keys[i];
    return NULL;
}

/* Can the pattern fit any value of the key? A filter that takes nothing for a misspelt word would
 * pass every report. */
static bool can_match(const struct key *key, const char *pattern)
{
    for (size_t i = 0; key->words && key->words[i]; i++)
        if (sc_glob_matches(pattern, key->words[i]))
            return true;
    return !key->words;
}

/* Complains that the value is none of those that the key can have, and lists them if they are
 * few. */
static bool refuse_value(const struct part *part, const struct key *key)
{
    char words[256] = "";
    for (size_t i = 0; key->words[i]; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", i > 0 ? ", " : "",
                 key->words[i]);
    bool are_few = strlen(words) < sizeof words - 1;
    return refuse(part, "fits none of ", are_few ? words : "those that `safecopy explain` lists");
}

/* Adds a term that hazards must fulfil to be shown. Returns false, after a message, if there is no
 * memory. */
static bool add_term(struct sc_filter *filter, const struct part *part, struct term term)
{
    struct term *kept = malloc(sizeof *kept);
    if (!kept)
        return refuse(part, "cannot be kept: out of memory", "");
    *kept = term;
    filter->terms = kept;
    return true;
}

/* Parses one term, KEY=PATTERN or !KEY=PATTERN. Prints a message and returns false if it is wrong.
 */
static bool take_part(struct sc_filter *filter, const struct part *part)
{
    bool is_contrary = part->text[0] == '!';
    char *name = part->text + is_contrary, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct key *key = find_key(name, length);
    if (!key && length > 0)
        return refuse(part, "names no key; the nearest is ",
                      sc_nearest_word(name, length, key_name));
    if (!key || !equals || equals[1] == '\0')
        return refuse(part, "is not KEY=PATTERN", "");
    if (!can_match(key, equals + 1))
        return refuse_value(part, key);
    return add_term(filter, part,
                    (struct term){filter->terms, key->matches, is_contrary, equals + 1});
}

/* Parses the terms of --filter, between commas. Returns false, after a message, if one is
 * wrong. */
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

/* Reads a filter, terms between commas that all have to hold. Prints a message and returns NULL if
 * it is wrong. */
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

/* Frees the filter; NULL does nothing. */
void sc_filter_free(struct sc_filter *filter)
{
    while (filter && filter->terms) {
        struct term *term = filter->terms;
        filter->terms = term->next;
        free(term);
    }
    free(filter);
}

/* Does the hazard pass the filter? NULL lets all pass. */
bool sc_filter_takes(const struct sc_filter *filter, const struct sc_shown *hazard)
{
    const struct term *term = filter ? filter->terms : NULL;
    while (term && term->matches(term->pattern, hazard) != term->is_contrary)
        term = term->next;
    return !term;
}
