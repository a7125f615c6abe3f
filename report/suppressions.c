#include "report/suppressions.h"

#include "common/hazard_words.h"
#include "common/text.h"
#include "report/nearest.h"
#include "report/plain.h"

#include <string.h>

#include "common/poison.h"

enum { WHAT_MAX_BYTES = 256, SHOWN_MAX_BYTES = 60, S_PER_DAY = 86400 };

static const struct {
    const char *prefix;
    enum sc_frame_word word;
} kinds[] = {{"fun:", SC_FRAME_FUNCTION},
             {"obj:", SC_FRAME_OBJECT},
             {"src:", SC_FRAME_SOURCE},
             {"py:", SC_FRAME_PYTHON}};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- text ---- */

/* Does the character separate words? A line may end in \r\n. */
static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Is the part exactly this word? */
static bool is_word(struct sc_part part, const char *word)
{
    return part.length == strlen(word) && memcmp(part.bytes, word, part.length) == 0;
}

/* Returns the part without its first `at` bytes. */
static struct sc_part rest_from(struct sc_part part, size_t at)
{
    return (struct sc_part){part.bytes + at, part.length - at};
}

/* Returns the part without blanks at both ends. */
static struct sc_part trim_blanks(struct sc_part part)
{
    while (part.length > 0 && is_blank(part.bytes[0]))
        part = rest_from(part, 1);
    while (part.length > 0 && is_blank(part.bytes[part.length - 1]))
        part.length--;
    return part;
}

/* Takes the next word, which ends at a separator, off the front of *rest. Its length is 0 at the
 * end. */
static struct sc_part take_until(struct sc_part *rest, const char *separators)
{
    size_t at = 0, end;
    if (rest->length == 0)
        return *rest;
    while (at < rest->length && strchr(separators, rest->bytes[at]))
        at++;
    for (end = at; end < rest->length && !strchr(separators, rest->bytes[end]);)
        end++;
    struct sc_part word = {rest->bytes + at, end - at};
    *rest = rest_from(*rest, end);
    return word;
}

/* Takes the next word, which ends at a blank, off the front. */
static struct sc_part take_word(struct sc_part *rest)
{
    return take_until(rest, " \t\r\n");
}

/* Takes the next hazard code off the front; codes may be separated by commas. */
static struct sc_part take_code(struct sc_part *rest)
{
    return take_until(rest, " \t\r\n,");
}

/* Returns the first place in `text` where the pattern from `at` on, which follows a '*', may
 * match; NULL: nowhere. It jumps to the next occurrence of the pattern's first character instead
 * of trying each place. */
static const char *find_start(struct sc_part pattern, size_t at, const char *text)
{
    if (at == pattern.length)
        return text + strlen(text);
    char first = pattern.bytes[at];
    return first == '?' || first == '*' ? text : strchr(text, first);
}

/* Does the text match the pattern, in which * is any text and ? one byte? After a mismatch only
 * the last star takes one more byte: if an earlier star took more, the last one would find nothing
 * that it cannot find anyway. So the time is bounded by the product of the lengths. */
bool sc_suppressions_glob(struct sc_part pattern, const char *text)
{
    size_t at = 0, star = SIZE_MAX;
    const char *retry = text;
    while (*text != '\0' || at < pattern.length) {
        bool is_over = at == pattern.length;
        if (!is_over && pattern.bytes[at] == '*') {
            star = ++at;
            retry = text;
        } else if (!is_over && *text != '\0' &&
                   (pattern.bytes[at] == '?' || pattern.bytes[at] == *text)) {
            at++;
            text++;
            continue;
        } else if (star != SIZE_MAX && *retry != '\0') {
            at = star;
            retry++;
        } else {
            return false;
        }
        text = retry = find_start(pattern, at, retry);
        if (!text)
            return false;
    }
    return true;
}

/* ---- matching ---- */

/* Returns the index in `kinds` of the pattern's prefix (fun:, obj:, src:, py:); KINDS: it has
 * none. */
static unsigned kind_of(struct sc_part pattern)
{
    for (unsigned i = 0; i < KINDS; i++) {
        size_t length = strlen(kinds[i].prefix);
        if (pattern.length > length && memcmp(pattern.bytes, kinds[i].prefix, length) == 0)
            return i;
    }
    return KINDS;
}

/* Does the pattern match that property of the frame which its prefix names: fun: the function,
 * obj: the module, src: the line, py: the Python function? Not if the property is not known. */
bool sc_suppressions_matches(struct sc_part pattern, const struct sc_suppression_stack *stack,
                             unsigned frame)
{
    unsigned kind = kind_of(pattern);
    if (kind == KINDS || frame >= stack->count)
        return false;
    const char *word = stack->word(stack->context, frame, kinds[kind].word);
    return word && sc_suppressions_glob(rest_from(pattern, strlen(kinds[kind].prefix)), word);
}

/* Do the patterns match the stack's frames from the innermost one on? "..." stands for any number
 * of frames; frames behind the last pattern do not matter. After a mismatch only the last "..."
 * skips one more frame: an earlier one that skipped more would leave fewer frames to match. */
static bool matches_stack(struct sc_part patterns, const struct sc_suppression_stack *stack)
{
    struct sc_part behind_dots = {NULL, 0};
    unsigned frame = 0, retry = 0;
    for (;;) {
        struct sc_part pattern = take_word(&patterns);
        if (pattern.length == 0)
            return true;
        if (is_word(pattern, "...")) {
            behind_dots = patterns;
            retry = frame;
        } else if (sc_suppressions_matches(pattern, stack, frame)) {
            frame++;
        } else if (behind_dots.bytes && retry < stack->count) {
            patterns = behind_dots;
            frame = ++retry;
        } else {
            return false;
        }
    }
}

/* Is the hazard's code among the entry's, which may have * and ? ("SC2*")? */
static bool has_code(struct sc_part codes, const char *code)
{
    for (struct sc_part each = take_code(&codes); each.length > 0; each = take_code(&codes)) {
        if (sc_suppressions_glob(each, code))
            return true;
    }
    return false;
}

/* Returns the entry's first pattern of a frame, other than "...". Only stacks with a frame that it
 * matches can be covered, so the command looks for that first. */
struct sc_part sc_suppressions_first_pattern(const struct sc_suppression *entry)
{
    struct sc_part parts[] = {entry->copy, entry->event}, pattern = {NULL, 0};
    for (unsigned i = 0; i < 2 && pattern.length == 0; i++) {
        pattern = take_word(&parts[i]);
        while (is_word(pattern, "..."))
            pattern = take_word(&parts[i]);
    }
    return pattern;
}

/* Does the user's entry leave out a hazard with this code and these two stacks, those of the
 * operation and of the event? An expired one covers nothing. */
bool sc_suppressions_covers(const struct sc_suppression *entry, const char *code,
                            const struct sc_suppression_stack *copy,
                            const struct sc_suppression_stack *event)
{
    return !entry->is_expired && has_code(entry->code, code) && matches_stack(entry->copy, copy) &&
           matches_stack(entry->event, event);
}

/* ---- parsing ---- */

enum key { NAME, CODE, REASON, EXPIRES, COPY, EVENT, KEYS };

/* Returns the name of a key of an entry; NULL past the last, for sc_nearest_word. */
static const char *key_at(unsigned key)
{
    static const char *const keys[] = {"name", "code", "reason", "expires", "copy", "event"};
    return key < KEYS ? keys[key] : NULL;
}

/* Where the parser is: between entries, within one, or within a rejected one. */
enum place { OUTSIDE, INSIDE, SKIPPING };

/* The state of reading a file of suppressions, line by line. */
struct parser {
    sc_suppressions_complain *complain;
    void *context;
    int64_t now_s;
    struct sc_suppression *entries;
    unsigned count, most;
    unsigned line;
    const char *line_bytes; /* where the line begins */
    enum place place;
    struct sc_suppression entry; /* the entry that is being read */
    unsigned keys;               /* bit i: it has key i */
    struct sc_part *continued;   /* the patterns to which the next line may add; NULL: none */
};

/* Complains of a mistake at `at`, and has the parser skip the rest of the entry, so that an entry
 * gives one complaint. The complaint is `before`, `shown` (a piece of the file, cut and escaped)
 * and `after`. */
static void reject(struct parser *parser, const char *at, const char *before, struct sc_part shown,
                   const char *after)
{
    SC_TEXT(text, WHAT_MAX_BYTES);
    sc_text_put(&text, before);
    sc_plain_put(&text, shown.bytes ? shown.bytes : "",
                 shown.length < SHOWN_MAX_BYTES ? shown.length : SHOWN_MAX_BYTES);
    sc_text_put(&text, after);
    if (parser->complain)
        parser->complain(parser->context, parser->line, (unsigned)(at - parser->line_bytes) + 1,
                         text.bytes);
    parser->place = SKIPPING;
}

/* Complains of a mistake in words alone. */
static void reject_plainly(struct parser *parser, const char *at, const char *what)
{
    reject(parser, at, what, (struct sc_part){NULL, 0}, "");
}

/* Does the pattern match any hazard code that there is? If not, the entry would never apply: it is
 * misspelt. */
static bool matches_any_code(struct sc_part pattern)
{
    for (unsigned code = 0; code < SC_HAZARD_CODE_COUNT; code++) {
        if (sc_suppressions_glob(pattern, sc_hazard_code_string(code)))
            return true;
    }
    return false;
}

/* Rejects the entry at the first code that matches none there is. */
static void check_codes(struct parser *parser, struct sc_part codes)
{
    for (struct sc_part each = take_code(&codes); each.length > 0; each = take_code(&codes)) {
        if (matches_any_code(each))
            continue;
        reject(parser, each.bytes, "there is no hazard '", each, "'; a code is as SC201 or SC2*");
        return;
    }
}

/* Rejects the entry at the first word that is no pattern of a frame. */
static void check_patterns(struct parser *parser, struct sc_part patterns)
{
    for (struct sc_part each = take_word(&patterns); each.length > 0; each = take_word(&patterns)) {
        if (is_word(each, "...") || kind_of(each) < KINDS)
            continue;
        reject(parser, each.bytes, "'", each,
               "' is no frame: one is ..., or fun:, obj:, src: or py: with a pattern");
        return;
    }
}

/* Returns the number of days from 1970-01-01 to the first of the month, in the Gregorian calendar.
 * 477 leap days were before 1970. February's own leap day counts from March on. */
static int64_t days_before(int64_t year, unsigned month)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int64_t full = month > 2 ? year : year - 1; /* the last year whose February has ended */
    int64_t leaps = full / 4 - full / 100 + full / 400;
    return (year - 1970) * 365 + leaps - 477 + before[month - 1];
}

/* Reads YYYY-MM-DD as a number of days since 1970-01-01. Returns false if it is no date. */
static bool read_date(struct sc_part date, int64_t *day)
{
    unsigned digits[8], count = 0;
    for (size_t i = 0; i < date.length; i++) {
        if (i == 4 || i == 7 ? date.bytes[i] != '-' : date.bytes[i] < '0' || date.bytes[i] > '9')
            return false;
        if (i != 4 && i != 7 && count < 8)
            digits[count++] = (unsigned)(date.bytes[i] - '0');
    }
    if (date.length != 10)
        return false;
    int64_t year = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3];
    unsigned month = digits[4] * 10 + digits[5], of_month = digits[6] * 10 + digits[7];
    if (year < 1970 || month < 1 || month > 12 || of_month < 1)
        return false;
    int64_t next_month = month < 12 ? days_before(year, month + 1) : days_before(year + 1, 1);
    *day = days_before(year, month) + of_month - 1;
    return *day < next_month;
}

/* Notes whether the entry's last day is over (in UTC): it covers nothing then, and is listed as
 * expired. */
static void set_expiry(struct parser *parser, struct sc_part date)
{
    int64_t last_day = 0;
    if (!read_date(date, &last_day))
        reject(parser, date.bytes, "'", date, "' is no date; one is as 2027-01-31");
    parser->entry.is_expired = last_day < parser->now_s / S_PER_DAY;
}

/* Stores the entry's patterns for one of the two stacks. The next lines may add to them. */
static void set_patterns(struct parser *parser, struct sc_part *into, struct sc_part patterns)
{
    *into = patterns;
    parser->continued = into;
    check_patterns(parser, patterns);
}

/* Stores the value of a key in the entry, or rejects the entry if the value is none. A reason that
 * is still the suggested text says nothing, so it is refused. */
static void set_value(struct parser *parser, enum key key, struct sc_part value)
{
    struct sc_suppression *entry = &parser->entry;
    switch (key) {
    case NAME:
        entry->name = value;
        break;
    case CODE:
        entry->code = value;
        check_codes(parser, value);
        break;
    case REASON:
        entry->reason = value;
        if (is_word(value, SC_SUPPRESSIONS_NO_REASON))
            reject_plainly(parser, value.bytes,
                           "the reason is the one that was suggested: say why");
        break;
    case EXPIRES:
        set_expiry(parser, value);
        break;
    case COPY:
        set_patterns(parser, &entry->copy, value);
        break;
    case EVENT:
        set_patterns(parser, &entry->event, value);
        break;
    case KEYS:
        break;
    }
}

/* Returns the key that the word names; KEYS: none. */
static enum key find_key(struct sc_part word)
{
    unsigned key = 0;
    while (key < KEYS && !is_word(word, key_at(key)))
        key++;
    return key;
}

/* Reads a line "KEY: VALUE" of an entry, and rejects the entry if the key is unknown, was there
 * before, or has no value. A byte 0 would end the text for who prints it. */
static void read_key_line(struct parser *parser, struct sc_part line)
{
    const char *colon = memchr(line.bytes, ':', line.length);
    struct sc_part word = trim_blanks(
        (struct sc_part){line.bytes, colon ? (size_t)(colon - line.bytes) : line.length});
    const char *zero = memchr(line.bytes, '\0', line.length);
    enum key key = find_key(word);
    if (zero) {
        reject_plainly(parser, zero, "a byte 0 is no text");
        return;
    }
    if (key == KEYS) {
        SC_TEXT(text, 64);
        sc_text_format(&text, "'; did you mean '%s:'?",
                       sc_nearest_word(word.bytes, word.length, key_at));
        reject(parser, word.bytes, "an entry has no '", word, text.bytes);
        return;
    }
    struct sc_part value = colon ? trim_blanks(rest_from(line, (size_t)(colon + 1 - line.bytes)))
                                 : (struct sc_part){NULL, 0};
    if (value.length == 0)
        reject(parser, word.bytes, "'", word, ":' wants a value behind it, on the same line");
    else if (parser->keys & 1u << key)
        reject(parser, word.bytes, "the entry has '", word, ":' already");
    else
        set_value(parser, key, value);
    parser->keys |= 1u << key;
}

/* Keeps the entry at its '}', if it has all mandatory keys and there is room for it. */
static void end_entry(struct parser *parser, const char *at)
{
    static const enum key mandatory[] = {NAME, CODE, REASON};
    for (unsigned i = 0; i < sizeof mandatory / sizeof mandatory[0]; i++) {
        const char *key = key_at(mandatory[i]);
        if (parser->keys & 1u << mandatory[i])
            continue;
        reject(parser, at, "the entry lacks '", (struct sc_part){key, strlen(key)}, ":'");
        return;
    }
    if (parser->count == parser->most) {
        reject_plainly(parser, at, "there are too many entries; this one is left out");
        return;
    }
    parser->entries[parser->count++] = parser->entry;
}

/* Begins an entry at its '{'. One that has no '}' before is rejected by itself, and this one is
 * read. */
static void begin_entry(struct parser *parser, const char *at)
{
    if (parser->place == INSIDE)
        reject_plainly(parser, at, "the entry before has no '}'");
    parser->place = INSIDE;
    parser->keys = 0;
    parser->continued = NULL;
    parser->entry = (struct sc_suppression){0};
}

/* Adds the line to the patterns of the key before it if it has only patterns of frames. Returns
 * whether it does; if not, it is a line of its own. */
static bool add_if_patterns(struct parser *parser, struct sc_part line)
{
    struct sc_part rest = line, word = take_word(&rest);
    if (!parser->continued || (!is_word(word, "...") && kind_of(word) == KINDS))
        return false;
    parser->continued->length = (size_t)(line.bytes + line.length - parser->continued->bytes);
    check_patterns(parser, line);
    return true;
}

/* Reads one line: the beginning or end of an entry, a key with its value, or a comment. Lines of a
 * rejected entry are skipped up to its '}'. */
static void read_line(struct parser *parser, struct sc_part line)
{
    if (is_word(line, "{")) {
        begin_entry(parser, line.bytes);
    } else if (is_word(line, "}") && parser->place != OUTSIDE) {
        if (parser->place == INSIDE)
            end_entry(parser, line.bytes);
        parser->place = OUTSIDE;
    } else if (line.length == 0 || line.bytes[0] == '#') {
        parser->continued = NULL;
    } else if (parser->place == OUTSIDE) {
        reject(parser, line.bytes, "'", line,
               "' stands outside of an entry, which begins with '{'");
    } else if (parser->place == INSIDE && !add_if_patterns(parser, line)) {
        parser->continued = NULL;
        read_key_line(parser, line);
    }
}

/* Reads the entries of the text, line by line. Returns how many are well-formed; `complain` is
 * told of each other one. */
unsigned sc_suppressions_parse(const char *text, size_t size, int64_t now_s,
                               struct sc_suppression *entries, unsigned most,
                               sc_suppressions_complain *complain, void *context)
{
    struct parser parser = {
        .complain = complain, .context = context, .now_s = now_s, .entries = entries, .most = most};
    struct sc_part rest = {text, size};
    while (rest.length > 0) {
        const char *end = memchr(rest.bytes, '\n', rest.length);
        size_t length = end ? (size_t)(end - rest.bytes) : rest.length;
        parser.line++;
        parser.line_bytes = rest.bytes;
        read_line(&parser, trim_blanks((struct sc_part){rest.bytes, length}));
        rest = rest_from(rest, end ? length + 1 : length);
    }
    if (parser.place == INSIDE)
        reject_plainly(&parser, rest.bytes, "the last entry has no '}'");
    return parser.count;
}
