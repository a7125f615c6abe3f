#define _GNU_SOURCE 1
#include "report/command/frame_rules.h"

#include "report/command/embed.h"
#include "report/command/glob.h"
#include "report/command/regular_file.h"
#include "report/command/say.h"
#include "report/command/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SC_EMBED(sc_frame_rules_built_in, "report/command/frames.rules");

enum { RULES_SIZE_MAX = 1024 * 1024 };

struct rule {
    struct rule *next;
    enum sc_frame_kind kind;
    char pattern[];
};

/* What was decided of a path. */
struct decision {
    struct sc_node node;
    struct decision *next;
    enum sc_frame_kind kind;
    char path[];
};

struct sc_frame_rules {
    struct rule *paths, *functions;
    struct sc_table table; /* of struct decision */
    struct decision *decisions;
    const struct decision *last; /* that was asked for */
};

/* ---- reading ---- */

/* Where the rules of one text go: before all that were there. */
struct target {
    struct rule **paths, **functions;
};

struct words {
    const char *at[3];
    size_t length[3];
};

/* Splits a line of rules into three words, of which the third goes on to the end of the line. */
static void split(const char *line, const char *end, struct words *words)
{
    for (size_t i = 0; i < 3; i++) {
        while (line < end && (*line == ' ' || *line == '\t'))
            line++;
        words->at[i] = line;
        while (line < end && (i == 2 || (*line != ' ' && *line != '\t')))
            line++;
        while (i == 2 && line > words->at[i] && strchr(" \t\r", line[-1]))
            line--;
        words->length[i] = (size_t)(line - words->at[i]);
    }
}

/* Returns the place of the word among those that are known, or -1 if it is none. */
static int index_of(const struct words *words, size_t which, const char *const *known)
{
    for (int i = 0; known[i]; i++)
        if (strlen(known[i]) == words->length[which] &&
            memcmp(known[i], words->at[which], words->length[which]) == 0)
            return i;
    return -1;
}

/* Adds a rule behind `*at`, which then points behind it: rules of a file keep their order, before
 * those of earlier files. False: no memory. */
static bool add_rule(struct rule ***at, enum sc_frame_kind kind, const char *pattern, size_t length)
{
    struct rule *rule = malloc(sizeof *rule + length + 1);
    if (!rule)
        return false;
    rule->kind = kind;
    memcpy(rule->pattern, pattern, length);
    rule->pattern[length] = '\0';
    rule->next = **at;
    **at = rule;
    *at = &rule->next;
    return true;
}

/* Parses one rule. Returns the word that is wrong, or NULL. */
static const char *take_line(struct target *target, const char *line, const char *end)
{
    static const char *const kinds[] = {"runtime", "library", "user", NULL};
    static const char *const fields[] = {"path", "function", NULL};
    struct words words;
    split(line, end, &words);
    if (words.length[0] == 0 || *words.at[0] == '#' || *words.at[0] == '\r')
        return NULL;
    int kind = index_of(&words, 0, kinds), field = index_of(&words, 1, fields);
    if (kind < 0 || field < 0 || words.length[2] == 0)
        return words.at[kind < 0 ? 0 : field < 0 ? 1 : 2];
    struct rule ***at = field == 0 ? &target->paths : &target->functions;
    return add_rule(at, (enum sc_frame_kind)kind, words.at[2], words.length[2]) ? NULL : end;
}

/* Reads rules, one a line. Prints a message and returns a negative value if one is wrong. */
static int take_text(struct sc_frame_rules *rules, const char *name, const char *text)
{
    struct target target = {&rules->paths, &rules->functions};
    for (size_t number = 1; *text != '\0'; number++) {
        const char *end = strchrnul(text, '\n');
        const char *wrong = take_line(&target, text, end);
        if (wrong) {
            sc_say("%s:%zu:%td: a rule is `user|library|runtime path|function PATTERN`", name,
                   number, wrong - text + 1);
            return -EINVAL;
        }
        text = *end == '\n' ? end + 1 : end;
    }
    return 0;
}

static const char rows_of_the_process[] =
#define SC_FRAME_MODULE(kind, pattern) #kind " path */" pattern "\n"
#define SC_FRAME_FUNCTION(kind, pattern) #kind " function " pattern "\n"
#define SC_FRAME_PATH(kind, pattern) #kind " path " pattern "\n"
#include "report/frame_kinds.def"
    ;

/* Makes the rules that tell whose code a frame is: the command's own, and before them those by
 * which the library itself goes (frame_kinds.def). NULL: no memory, or they are wrong. */
struct sc_frame_rules *sc_frame_rules_new(void)
{
    struct sc_frame_rules *rules = calloc(1, sizeof *rules);
    if (rules && take_text(rules, "frames.rules", sc_frame_rules_built_in) == 0 &&
        take_text(rules, "frame_kinds.def", rows_of_the_process) == 0)
        return rules;
    sc_frame_rules_free(rules);
    return NULL;
}

/* Reads a file of rules. Prints a message and returns a negative value if that fails. */
static int read_file(struct sc_frame_rules *rules, const char *path, bool may_be_missing)
{
    char *text = NULL;
    int result = sc_regular_file_read(path, RULES_SIZE_MAX, &text, NULL);
    if (result == -ENOENT && may_be_missing)
        return 0;
    if (result < 0)
        sc_say("cannot read %s: %s", path, sc_regular_file_error(result));
    else
        result = take_text(rules, path, text);
    free(text);
    return result;
}

/* Reads a user's rules, which count before all others. Returns 0 or an error. */
int sc_frame_rules_read(struct sc_frame_rules *rules, const char *path)
{
    return read_file(rules, path, false);
}

/* Reads the user's own rules, if there are any. Returns a negative value if they are wrong. */
int sc_frame_rules_read_own(struct sc_frame_rules *rules)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    bool has_config = config && config[0] == '/';
    char *path = NULL;
    if (!has_config && (!home || home[0] != '/'))
        return 0;
    if (asprintf(&path, "%s%s/safecopy/frames", has_config ? config : home,
                 has_config ? "" : "/.config") < 0)
        return -ENOMEM;
    int result = read_file(rules, path, true);
    free(path);
    return result;
}

static void free_rules(struct rule *rule)
{
    while (rule) {
        struct rule *next = rule->next;
        free(rule);
        rule = next;
    }
}

/* Frees the rules, and the decisions that were made by them; NULL does nothing. */
void sc_frame_rules_free(struct sc_frame_rules *rules)
{
    if (!rules)
        return;
    free_rules(rules->paths);
    free_rules(rules->functions);
    while (rules->decisions) {
        struct decision *decision = rules->decisions;
        rules->decisions = decision->next;
        free(decision);
    }
    sc_table_free(&rules->table);
    free(rules);
}

/* ---- deciding ---- */

/* Returns the first rule whose pattern matches the text; NULL: none does. */
static const struct rule *find_rule(const struct rule *rule, const char *text)
{
    while (rule && !sc_glob_matches(rule->pattern, text))
        rule = rule->next;
    return rule;
}

/* Finds the rule for a path and keeps the decision, since paths come again and again. */
static const struct decision *decide(struct sc_frame_rules *rules, const struct sc_digest *digest,
                                     const char *path)
{
    struct decision *decision = calloc(1, sizeof *decision + strlen(path) + 1);
    const struct rule *rule = find_rule(rules->paths, path);
    if (!decision)
        return NULL;
    decision->node.digest = *digest;
    decision->kind = rule ? rule->kind : SC_FRAME_USER;
    strcpy(decision->path, path);
    decision->next = rules->decisions;
    rules->decisions = decision;
    sc_table_add(&rules->table, &decision->node);
    return decision;
}

/* Returns the decision on the path, kept or new. Returns NULL if memory runs out. */
static const struct decision *look_up(struct sc_frame_rules *rules, const char *path)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, path);
    struct sc_digest digest = sc_digest_end(&digester);
    const struct sc_node *known = sc_table_find(&rules->table, &digest);
    return known ? (const struct decision *)(const void *)known : decide(rules, &digest, path);
}

/* Returns whose code the file at the path has. Consecutive frames often have the same path, so the
 * last answer is tried first. */
static enum sc_frame_kind kind_of_path(struct sc_frame_rules *rules, const char *path)
{
    if (!rules->last || strcmp(rules->last->path, path) != 0)
        rules->last = look_up(rules, path);
    return rules->last ? rules->last->kind : SC_FRAME_USER;
}

/* Returns whether a frame is the user's code, a library's, or the runtime's. */
enum sc_frame_kind sc_frame_rules_of_frame(struct sc_frame_rules *rules, const char *module,
                                           const char *file, const char *function)
{
    const struct rule *rule = function ? find_rule(rules->functions, function) : NULL;
    if (rule)
        return rule->kind;
    if (!module && !file)
        return SC_FRAME_RUNTIME;
    enum sc_frame_kind kind = module ? kind_of_path(rules, module) : SC_FRAME_USER;
    return kind == SC_FRAME_USER && file ? kind_of_path(rules, file) : kind;
}
