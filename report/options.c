#include "report/options.h"

#include "common/text.h"
#include "report/file.h"
#include "report/nearest.h"
#include "report/plain.h"

#include <string.h>

#include "common/poison.h"

enum kind { BOOL, CHOICE, NUMBER, SIZE, TIME, SHARE, PATH };

/* A list of words, of each kind of option: of a CHOICE its values 0, 1, ... in this order; of a
 * BOOL false, then true; of a NUMBER the numbers that it may have besides its range; of a SIZE or a
 * SHARE the one word that stands for 0. */
typedef const char *const words[5]; /* NULL behind the last */
#define WORDS(...) ((words){__VA_ARGS__})
static words zero_one = {"0", "1"};
static words drivers_own = {"driver"};
static words no_words = {NULL};

/* A row of the table of options: how it is named, stored and explained. */
struct option {
    const char *key;
    enum kind kind;
    size_t offset;
    const char *standard; /* the default, as an entry would give it */
    const char *const *words;
    uint64_t least, most; /* the range of a NUMBER; of a SIZE `most` alone, 0: any */
    const char *meaning;
};

/* A row of the table. Behind the meaning come members that only some rows set. */
#define ROW(key_, kind_, member, standard_, words_, ...)                                           \
    {                                                                                              \
        .key = key_, .kind = kind_, .offset = offsetof(struct sc_options, member),                 \
        .standard = standard_, .words = words_, .meaning = __VA_ARGS__                             \
    }

static const struct option table[] = {
    ROW("mode", CHOICE, mode, "fix", WORDS("fix", "report", "off"),
        "heal and report; only report, behaviour unchanged; do nothing"),
    ROW("strict", BOOL, strict, "0", zero_one,
        "1: the process exits with exitcode if a hazard was found"),
    ROW("exitcode", NUMBER, exitcode, "66", no_words, "the exit status that strict uses",
        .least = 1, .most = 255),
    ROW("certainty", CHOICE, certainty, "latent", WORDS("latent", "observed"),
        "the weakest hazard that strict counts"),
    ROW("halt_on_error", BOOL, halt_on_error, "0", zero_one,
        "1: abort() at the first hazard, after it is on disk"),
    ROW("report_path", PATH, report_path, "safecopy.%e.%p.jsonl", no_words,
        "the report; %p pid, %e executable, %h host, %r rank; none writes none"),
    ROW("suppressions", PATH, suppressions, "", no_words, "a file of hazards to leave out"),
    ROW("guard", CHOICE, guard, "on", WORDS("off", "on", "uffd", "mprotect"),
        "page protection of buffers in flight; by userfaultfd where it serves, or mprotect alone"),
    ROW("guard_budget", SHARE, guard_budget, "off", WORDS("off"),
        "the share of the time that guards may take: new call sites first, the others in turn"),
    ROW("snapshot_max", SIZE, snapshot_max_bytes, "32K", no_words,
        "H2D copies up to this size are snapshotted, not guarded; 0 disables", .least = 0,
        .most = 1 << 20),
    ROW("max_held", SIZE, max_held_bytes, "1G", no_words,
        "bytes of deferred frees before a free waits instead"),
    ROW("stall_limit", TIME, stall_limit_ns, "10s", no_words,
        "the longest that a guarded touch, or a free beyond max_held, waits"),
    ROW("capture", CHOICE, capture, "repair", WORDS("repair", "report"),
        "heal captures, or leave them to fail"),
    ROW("stacks", CHOICE, stacks, "full", WORDS("full", "site", "none"),
        "whole stacks, the calling frame only, none"),
    ROW("python", BOOL, python, "1", zero_one, "Python frames in stacks"),
    ROW("device", CHOICE, device, "auto", WORDS("auto", "0", "1"),
        "device memory that two streams use in no order (SC501, SC502); auto: with strict=1, in "
        "mode=report and for kernels"),
    ROW("kernels", CHOICE, kernels, "off", WORDS("off", "report", "order"),
        "the same of kernels, by their parameters, and host memory that is overwritten or freed "
        "under them: reported, or put in order as well"),
    ROW("cupti", CHOICE, cupti, "auto", WORDS("auto", "off", "require"),
        "the audit and the API names; auto: where its cost is justified"),
    ROW("timeline", BOOL, timeline, "0", zero_one,
        "exact device times of the copies of hazards, from CUPTI activity"),
    ROW("um", BOOL, um, "0", zero_one,
        "page faults on managed memory, and pages that move, from CUPTI activity; SC602 judges by "
        "them"),
    ROW("nvtx", CHOICE, nvtx, "auto", WORDS("auto", "off"),
        "hazards and stalls as marks and ranges in Nsight Systems"),
    ROW("postmortem", BOOL, postmortem, "1", zero_one,
        "what was in flight and given back when a call first fails for good"),
    ROW("memory", BOOL, memory, "on", WORDS("off", "on"),
        "who holds memory of the GPU and pinned memory, now and at most"),
    ROW("memory_every", TIME, memory_every_ns, "0", no_words,
        "a line of the report about memory each time so much has passed; 0: none"),
    ROW("memory_signal", NUMBER, memory_signal, "0", WORDS("0", "10", "12") /* SIGUSR1, SIGUSR2 */,
        "the number of a signal at which there is such a line; 0: none", .least = 34, .most = 64),
    ROW("leaks", BOOL, leaks, "0", zero_one,
        "1: memory that is never given back is a hazard (SC601), when destructors have run"),
    ROW("pinned", CHOICE, pinned, "huge", WORDS("huge", "driver"), "who serves pinned allocations"),
    ROW("device_heap", SIZE, device_heap_bytes, "driver", drivers_own,
        "CU_LIMIT_MALLOC_HEAP_SIZE of new contexts, for malloc in kernels; driver: as it is"),
    ROW("stack_limit", SIZE, stack_limit_bytes, "driver", drivers_own,
        "CU_LIMIT_STACK_SIZE of new contexts, of each thread of a kernel"),
    ROW("printf_fifo", SIZE, printf_fifo_bytes, "driver", drivers_own,
        "CU_LIMIT_PRINTF_FIFO_SIZE of new contexts, for printf in kernels"),
    ROW("verbosity", CHOICE, verbosity, "1", WORDS("0", "1", "2", "3"),
        "0 silent, 1 a summary when there are hazards, 2 always, 3 and the trace of a debug build"),
    ROW("help", BOOL, help, "0", zero_one, "1 prints this table"),
};

enum { OPTION_COUNT = sizeof table / sizeof table[0], LINE_MAX_BYTES = 512 };

_Static_assert(OPTION_COUNT <= 32, "struct sc_options.given has a bit for each row");

/* A part of the text of the options, without a NUL behind it. */
struct slice {
    const char *bytes;
    size_t length;
};

/* Is the part exactly this word? */
static bool is_word(struct slice slice, const char *word)
{
    return strlen(word) == slice.length && memcmp(slice.bytes, word, slice.length) == 0;
}

/* Returns which word of the list the slice is, or -1 if there is none. */
static int word_index(const char *const *list, struct slice slice)
{
    for (int i = 0; list[i]; i++) {
        if (is_word(slice, list[i]))
            return i;
    }
    return -1;
}

/* Reads the digits that `slice` begins with; *rest becomes what follows them. Returns false if
 * there are none, or the number is too large. */
static bool parse_digits(struct slice slice, uint64_t *value, struct slice *rest)
{
    size_t i = 0;
    *value = 0;
    for (; i < slice.length && slice.bytes[i] >= '0' && slice.bytes[i] <= '9'; i++) {
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(slice.bytes[i] - '0'), value))
            return false;
    }
    *rest = (struct slice){slice.bytes + i, slice.length - i};
    return i > 0;
}

/* A unit that may stand behind a number. */
struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit size_units[] = {
    {"", 1},   {"K", UINT64_C(1) << 10}, {"M", UINT64_C(1) << 20}, {"G", UINT64_C(1) << 30},
    {NULL, 0},
};
static const struct unit time_units[] = {{"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};

/* Reads a number with one of the units after it ("32K", "10s"). Returns false if it has none,
 * though 0 needs no unit, or overflows. */
static bool parse_scaled(struct slice slice, const struct unit *units, uint64_t *value)
{
    struct slice rest;
    if (!parse_digits(slice, value, &rest))
        return false;
    for (; units->name; units++) {
        if (is_word(rest, units->name))
            return !__builtin_mul_overflow(*value, units->factor, value);
    }
    return *value == 0 && rest.length == 0;
}

/* Reads a share such as "2%" or "0.25%", in hundredths of a percent: more than 0%, at most 100%. */
static bool parse_share(struct slice slice, uint64_t *value)
{
    enum { ALL = 10000, DIGITS_MAX = 2 };
    struct slice rest, fraction;
    uint64_t parts = 0;
    if (!parse_digits(slice, value, &rest) || *value > ALL)
        return false;
    *value *= 100;
    if (rest.length > 0 && rest.bytes[0] == '.') {
        fraction = (struct slice){rest.bytes + 1, rest.length - 1};
        if (!parse_digits(fraction, &parts, &rest) || fraction.length - rest.length > DIGITS_MAX)
            return false;
        *value += fraction.length - rest.length == 1 ? parts * 10 : parts;
    }
    return is_word(rest, "%") && *value > 0 && *value <= ALL;
}

/* May the character be part of a key or of a word of an option? */
static bool is_word_character(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* Does the text begin with the word, followed by something that cannot belong to it? Capitals in
 * the text count as small letters, as in STRICT=1. */
static bool begins_with(struct slice text, const char *word)
{
    size_t length = strlen(word);
    if (text.length < length)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = text.bytes[i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != word[i])
            return false;
    }
    return text.length == length || !is_word_character(text.bytes[length]);
}

/* Is "strict" a word of the text, other than in "strict=0"? Then the user probably wanted the run
 * to fail on hazards. */
static bool names_strict(struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        struct slice rest = {text.bytes + i, text.length - i};
        if ((i == 0 || !is_word_character(rest.bytes[-1])) && begins_with(rest, "strict") &&
            !begins_with(rest, "strict=0"))
            return true;
    }
    return false;
}

/* Does the path end in something like ",strict=1"? A path may have commas and blanks, but this was
 * meant as two entries: taken as a path, it would leave strict off without a word. */
static bool ends_in_strict(struct slice path)
{
    size_t from = path.length;
    while (from > 0 && !strchr(",; /", path.bytes[from - 1]))
        from--;
    return from > 0 && path.bytes[from - 1] != '/' &&
           names_strict((struct slice){path.bytes + from, path.length - from});
}

/* Stores the path; false if it is too long. */
static bool store_path(char *path, struct slice value)
{
    if (value.length >= SC_OPTIONS_PATH_SIZE)
        return false;
    memcpy(path, value.bytes, value.length);
    path[value.length] = '\0';
    return true;
}

/* Stores `value` in the option's member if the option accepts it. Returns whether it does; else
 * the member keeps its value. What each kind of option accepts stands at enum kind and in its row
 * of the table. */
static bool store(struct sc_options *options, const struct option *option, struct slice value)
{
    char *member = (char *)options + option->offset;
    int index = word_index(option->words, value);
    struct slice rest;
    uint64_t number = 0;
    bool fits = index >= 0;
    switch (option->kind) {
    case BOOL:
        if (fits)
            *(bool *)(void *)member = index != 0;
        return fits;
    case CHOICE:
        if (fits)
            *(int *)(void *)member = index;
        return fits;
    case NUMBER:
        fits = parse_digits(value, &number, &rest) && rest.length == 0 &&
               (fits || (number >= option->least && number <= option->most));
        if (fits)
            *(int *)(void *)member = (int)number;
        return fits;
    case SIZE:
    case TIME:
        fits = fits || parse_scaled(value, option->kind == SIZE ? size_units : time_units, &number);
        fits = fits && (option->most == 0 || number <= option->most);
        /* A deadline, which is the present time plus this, must not overflow. */
        fits = fits && (option->kind == SIZE || number <= INT64_MAX / 2);
        if (fits)
            *(uint64_t *)(void *)member = number;
        return fits;
    case SHARE:
        fits = fits || parse_share(value, &number);
        if (fits)
            *(uint64_t *)(void *)member = number;
        return fits;
    case PATH:
        /* Only an option that is empty by default can be made empty. */
        return (value.length > 0 || option->standard[0] == '\0') && !ends_in_strict(value) &&
               store_path(member, value);
    }
    return false;
}

/* Sets every option to its default, by parsing the default that its row has. */
void sc_options_defaults(struct sc_options *options)
{
    memset(options, 0, sizeof *options);
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        store(options, &table[i], (struct slice){table[i].standard, strlen(table[i].standard)});
}

/* Returns the key of a row, or NULL past the last, for sc_nearest_word. */
static const char *key_at(unsigned row)
{
    return row < OPTION_COUNT ? table[row].key : NULL;
}

/* Appends the slice in quotes. Control characters are escaped, so that a complaint stays one line.
 */
static void put_quoted(struct sc_text *text, struct slice slice)
{
    enum { SHOWN = 80 };
    sc_text_char(text, '\'');
    sc_plain_put(text, slice.bytes, slice.length < SHOWN ? slice.length : SHOWN);
    sc_text_put(text, slice.length > SHOWN ? "...'" : "'");
}

/* Appends the value with the largest unit that divides it ("1G"), as a user would write it; units
 * come in ascending order. 0 gets the smallest unit. */
static void put_scaled(struct sc_text *text, uint64_t value, const struct unit *units)
{
    const struct unit *best = NULL;
    for (; units->name; units++) {
        if (!best || (value != 0 && value % units->factor == 0))
            best = units;
    }
    sc_text_format(text, "%lu%s", value / best->factor, best->name);
}

/* Appends which values the option takes, as the end of a complaint: its words, then what else its
 * kind takes. */
static void put_accepted(struct sc_text *text, const struct option *option)
{
    const char *const *list = option->words;
    for (unsigned i = 0; list[i]; i++)
        sc_text_format(text, "%s%s",
                       i == 0                                   ? ""
                       : !list[i + 1] && option->kind != NUMBER ? " or "
                                                                : ", ",
                       list[i]);
    if (list[0] && (option->kind == SIZE || option->kind == NUMBER))
        sc_text_put(text, " or ");
    if (option->kind == SIZE && option->most == 0)
        sc_text_put(text, "a size such as 4096, 32K, 8M or 1G");
    if (option->kind == SIZE && option->most != 0) {
        sc_text_put(text, "a size such as 4096 or 32K, at most ");
        put_scaled(text, option->most, size_units);
    }
    if (option->kind == SHARE)
        sc_text_put(text, " or a share such as 2% or 0.25%, at most 100%");
    if (option->kind == TIME)
        sc_text_put(text, "a time such as 500ms or 10s");
    if (option->kind == PATH)
        sc_text_put(text, "a path of at most 4095 bytes");
    if (option->kind == NUMBER)
        sc_text_format(text, "a number from %lu to %lu", option->least, option->most);
}

/* Who is told of bad entries, and what becomes of the process after them. */
struct listener {
    sc_options_complain *complain;
    void *context;
    bool is_strict; /* does not go on after a bad entry, so none "is ignored" */
};

/* Gives a complaint to whoever listens; nobody does if only the values are wanted. */
static void pass_complaint(const struct listener *listener, const struct sc_text *text)
{
    if (listener->complain)
        listener->complain(listener->context, text->bytes);
}

/* Is the key the rest of a path that contained a ':', which separates entries? No key has '/' or
 * '.'. Then no option is suggested. */
static bool is_part_of_path(struct slice key)
{
    return memchr(key.bytes, '/', key.length) || memchr(key.bytes, '.', key.length);
}

/* Returns the option that the misspelt key was most likely meant to be, or NULL if it is a part of
 * a path. */
static const char *meant_by(struct slice key)
{
    return is_part_of_path(key) ? NULL : sc_nearest_word(key.bytes, key.length, key_at);
}

/* Returns what a complaint says of the fate of a bad entry: `said`, or nothing for `safecopy run`,
 * which ends at a bad entry instead of ignoring it. */
static const char *words_if_ignored(const struct listener *listener, const char *said)
{
    return listener->is_strict ? "" : said;
}

/* Returns what a complaint adds if the bad entry may have asked for strict: that the run will
 * fail. `safecopy run` does not begin one. */
static const char *words_of_strict(const struct listener *listener, bool asks_for_strict)
{
    return listener->is_strict || !asks_for_strict
               ? ""
               : " (the run fails when it ends, since strict may be meant)";
}

/* Complains that there is no such option, and says which one may have been meant. */
static void complain_of_key(const struct listener *listener, struct slice key, bool asks_for_strict)
{
    const char *meant = meant_by(key);
    SC_TEXT(text, LINE_MAX_BYTES);
    sc_text_put(&text, "unknown option ");
    put_quoted(&text, key);
    sc_text_format(&text, "%s%s%s%s%s", words_if_ignored(listener, " is ignored"),
                   meant ? "; did you mean '" : "; a path cannot contain ':'", meant ? meant : "",
                   meant ? "'?" : "", words_of_strict(listener, asks_for_strict));
    pass_complaint(listener, &text);
}

/* Complains that the option cannot have this value (NULL: that it has none), and says which ones
 * it takes. */
static void complain_of_value(const struct listener *listener, const struct option *option,
                              const struct slice *value, bool asks_for_strict)
{
    SC_TEXT(text, LINE_MAX_BYTES);
    sc_text_format(&text, "option '%s", option->key);
    if (!value) {
        sc_text_format(&text, "' has no value%s", words_if_ignored(listener, " and is ignored"));
    } else {
        sc_text_put(&text, "' cannot be ");
        put_quoted(&text, *value);
        sc_text_put(&text, words_if_ignored(listener, ", which is ignored"));
    }
    sc_text_put(&text, "; it takes ");
    put_accepted(&text, option);
    if (asks_for_strict && strcmp(option->key, "strict") != 0)
        sc_text_put(&text, ", and ':' separates options");
    sc_text_put(&text, words_of_strict(listener, asks_for_strict));
    pass_complaint(listener, &text);
}

/* Adds a bad entry, which changes nothing, to those that the report lists. It is counted even if
 * it does not fit. */
static void keep_ignored(struct sc_options *options, struct slice entry)
{
    size_t used = strlen(options->ignored);
    size_t separator = options->ignored_count > 0;
    options->ignored_count++;
    if (used + separator + entry.length >= sizeof options->ignored)
        return;
    if (separator)
        options->ignored[used++] = ':';
    memcpy(options->ignored + used, entry.bytes, entry.length);
    options->ignored[used + entry.length] = '\0';
}

/* Returns the row of the option with this key; -1: there is none. */
static int row_of(struct slice key)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (is_word(key, table[i].key))
            return i;
    }
    return -1;
}

/* May the bad entry have been meant as strict=1, misspelt or behind a comma? Then the run must
 * fail at its end: strict is off by the mistake, and hazards would pass unnoticed. */
static bool may_ask_for_strict(struct slice key, struct slice value)
{
    const char *meant = meant_by(key);
    bool is_meant = meant && strcmp(meant, "strict") == 0 && !is_word(value, "0");
    return is_meant || names_strict(value) || (meant && names_strict(key) && !is_word(value, "0"));
}

/* Returns the next entry of "key=value:key=value", which may be empty; *text is moved behind
 * it. */
static struct slice take_entry(const char **text)
{
    struct slice entry = {*text, strcspn(*text, ":")};
    *text += entry.length;
    *text += **text == ':';
    return entry;
}

/* Splits an entry at its '='. Returns false if there is none; then the whole entry is the key. */
static bool split_entry(struct slice entry, struct slice *key, struct slice *value)
{
    const char *equals = memchr(entry.bytes, '=', entry.length);
    *key = (struct slice){entry.bytes, equals ? (size_t)(equals - entry.bytes) : entry.length};
    *value = (struct slice){"", 0};
    if (equals)
        *value = (struct slice){equals + 1, entry.length - key->length - 1};
    return equals;
}

/* Applies one entry of the options. Returns false if it is bad: `listener` has been told, and
 * whether it may have meant strict=1 is noted. */
static bool parse_entry(struct sc_options *options, struct slice entry,
                        const struct listener *listener)
{
    struct slice key, value;
    bool equals = split_entry(entry, &key, &value);
    int row = row_of(key);
    if (row >= 0 && equals && store(options, &table[row], value)) {
        options->given |= UINT32_C(1) << row;
        return true;
    }
    bool asks_for_strict = may_ask_for_strict(key, value);
    options->misspells_strict |= asks_for_strict;
    if (row < 0)
        complain_of_key(listener, key, asks_for_strict);
    else
        complain_of_value(listener, &table[row], equals ? &value : NULL, asks_for_strict);
    return false;
}

/* Applies all entries; empty ones do nothing. Returns how many are bad, which the report lists. */
static unsigned parse(struct sc_options *options, const char *text, const struct listener *listener)
{
    unsigned bad = 0;
    while (text && *text != '\0') {
        struct slice entry = take_entry(&text);
        if (entry.length == 0 || parse_entry(options, entry, listener))
            continue;
        keep_ignored(options, entry);
        bad++;
    }
    return bad;
}

/* Applies the entries in a process that goes on whatever they say: complaints add that a bad entry
 * is ignored. */
unsigned sc_options_parse(struct sc_options *options, const char *text,
                          sc_options_complain *complain, void *context)
{
    return parse(options, text, &(struct listener){complain, context, .is_strict = false});
}

/* Applies the entries for `safecopy run`, which ends if one is bad: complaints do not say that it
 * is ignored. */
unsigned sc_options_check(struct sc_options *options, const char *text,
                          sc_options_complain *complain, void *context)
{
    return parse(options, text, &(struct listener){complain, context, .is_strict = true});
}

/* Is there an option with this key? */
bool sc_options_has(const char *key, size_t length)
{
    return row_of((struct slice){key, length}) >= 0;
}

/* Did an entry set the option, or is it the default? The key must be one of the table's. */
bool sc_options_is_given(const struct sc_options *options, const char *key)
{
    return options->given >> row_of((struct slice){key, strlen(key)}) & 1;
}

/* Returns the value that the text gives to one option, whose values are words; the last valid
 * entry counts. Needs little stack: a whole struct of options takes 10 KB, which the caller may
 * not have. */
int sc_options_find_choice(const char *text, const char *key)
{
    const struct option *option = &table[row_of((struct slice){key, strlen(key)})];
    int chosen =
        word_index(option->words, (struct slice){option->standard, strlen(option->standard)});
    while (text && *text != '\0') {
        struct slice name, value;
        bool is_it = split_entry(take_entry(&text), &name, &value) && is_word(name, key);
        int index = is_it ? word_index(option->words, value) : -1;
        chosen = index >= 0 ? index : chosen;
    }
    return chosen;
}

/* Appends a share that is stored in hundredths of a percent: "2%", "0.25%", without zeros at the
 * end. */
static void put_share(struct sc_text *text, uint64_t value)
{
    sc_text_format(text, "%lu", value / 100);
    if (value % 100)
        sc_text_format(text, ".%lu", value % 100 / 10);
    if (value % 10)
        sc_text_format(text, "%lu", value % 10);
    sc_text_char(text, '%');
}

/* Appends the option's value as an entry would give it, for whoever lists the options. */
static void put_value(struct sc_text *text, const struct option *option, const void *member)
{
    switch (option->kind) {
    case BOOL:
        sc_text_put(text, option->words[*(const bool *)member]);
        break;
    case CHOICE:
        sc_text_put(text, option->words[*(const int *)member]);
        break;
    case NUMBER:
        sc_text_format(text, "%d", *(const int *)member);
        break;
    case SIZE:
        if (*(const uint64_t *)member == 0 && option->words[0])
            sc_text_put(text, option->words[0]);
        else
            put_scaled(text, *(const uint64_t *)member, size_units);
        break;
    case TIME:
        put_scaled(text, *(const uint64_t *)member, time_units);
        break;
    case SHARE:
        if (*(const uint64_t *)member == 0)
            sc_text_put(text, option->words[0]);
        else
            put_share(text, *(const uint64_t *)member);
        break;
    case PATH:
        sc_text_put(text, member);
        break;
    }
}

/* Writes the value of the option in row `index`, and returns its key; NULL past the last row, so
 * that callers can list all options. */
const char *sc_options_get(const struct sc_options *options, unsigned index, char *value,
                           size_t size)
{
    if (index >= OPTION_COUNT)
        return NULL;
    struct sc_text text = sc_text_in(value, size);
    put_value(&text, &table[index], (const char *)options + table[index].offset);
    return table[index].key;
}

/* Appends blanks up to the column, at least one. */
static void put_padding(struct sc_text *text, size_t column)
{
    do
        sc_text_char(text, ' ');
    while (text->used < column && !text->cut);
}

/* Appends the option's default, and then its other words. */
static void put_values(struct sc_text *text, const struct option *option)
{
    sc_text_put(text, option->standard[0] != '\0' ? option->standard : "(none)");
    for (unsigned i = 0; option->words[i]; i++) {
        if (strcmp(option->words[i], option->standard) == 0)
            continue;
        sc_text_format(text, ", %s", option->words[i]);
    }
}

/* Prints for help=1 each option with its values and what it does, in columns. */
void sc_options_print_table(int fd)
{
    static const char head[] = "SAFECOPY_OPTIONS=\"key=value:key=value\"; values, default first:\n";
    static const char tail[] =
        "Sizes take K, M, G; times take ms, s. A value cannot contain ':'.\n";
    sc_file_write(fd, head, sizeof head - 1);
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        SC_TEXT(text, LINE_MAX_BYTES);
        sc_text_format(&text, "  %s", table[i].key);
        put_padding(&text, 17);
        put_values(&text, &table[i]);
        put_padding(&text, 39);
        sc_text_format(&text, "%s\n", table[i].meaning);
        sc_file_write(fd, text.bytes, text.used);
    }
    sc_file_write(fd, tail, sizeof tail - 1);
}
