#include "report/command/flags.h"

#include "report/command/say.h"
#include "report/nearest.h"
#include "report/options.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>

/* Letters are the commands' own: cmd_*.c. */
static const struct option of_run[] = {
    {"strict", optional_argument, NULL, 's'},
    {"option", required_argument, NULL, 'k'},
    {"report", required_argument, NULL, 'r'},
    {"report-dir", required_argument, NULL, 'd'},
    {"suppressions", required_argument, NULL, 'u'},
    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"output-mode", required_argument, NULL, 'm'},
    {"source-root", required_argument, NULL, 't'},
    {"injection", no_argument, NULL, 'i'},
    {"wait", optional_argument, NULL, 'w'},
    {"require-judged", no_argument, NULL, 'j'},
    {NULL, 0, NULL, 0},
};

static const struct option of_report[] = {
    {"json", no_argument, NULL, 'j'},
    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"output-mode", required_argument, NULL, 'm'},
    {"filter", required_argument, NULL, 'e'},
    {"baseline", required_argument, NULL, 'b'},
    {"between", required_argument, NULL, 'w'},
    {"debug-dir", required_argument, NULL, 'd'},
    {"path-map", required_argument, NULL, 'p'},
    {"source-root", required_argument, NULL, 't'},
    {"frames", required_argument, NULL, 'r'},
    {"suppressions", required_argument, NULL, 'u'},
    {"suggest-suppressions", no_argument, NULL, 's'},
    {"merged", no_argument, NULL, 'g'},
    {NULL, 0, NULL, 0},
};

static const struct option of_doctor[] = {
    {"format", required_argument, NULL, 'f'},
    {"no-run", no_argument, NULL, 'n'},
    {NULL, 0, NULL, 0},
};

static const struct option of_watch[] = {
    {"until-ended", optional_argument, NULL, 'u'},
    {"every", required_argument, NULL, 'e'},
    {"lines", no_argument, NULL, 'l'},
    {"otlp", required_argument, NULL, 't'},
    {"state", required_argument, NULL, 's'},
    {NULL, 0, NULL, 0},
};

/* `once`: these name a file each, of which one would be dropped in silence. What else is given
 * again adds to what was given before, or overrules it. */
static const struct command_flags {
    const char *command, *letters, *once;
    const struct option *flags;
} tables[] = {
    {"run", "+o:", "rduo", of_run},
    {"report", "o:", "uow", of_report},
    {"doctor", "+", "", of_doctor},
    {"watch", "", "ts", of_watch},
};

enum { TABLES = sizeof tables / sizeof tables[0] };

/* Returns the flags of a command; those of the last one if it is unknown. */
static const struct command_flags *find_table(const char *command)
{
    size_t i = 0;
    while (i + 1 < TABLES && strcmp(tables[i].command, command) != 0)
        i++;
    return &tables[i];
}

/* Returns the length of the flag's name in "--NAME=VALUE"; 0: it is no long flag. */
static size_t length_of_name(const char *word)
{
    return strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
}

/* Has the command the flag that the word names? */
static bool has(const struct command_flags *table, const char *word)
{
    size_t length = length_of_name(word);
    for (const struct option *flag = table->flags; flag->name; flag++)
        if (strlen(flag->name) == length && strncmp(flag->name, word + 2, length) == 0)
            return true;
    return false;
}

bool sc_flags_has(const char *command, const char *word)
{
    return has(find_table(command), word);
}

/* ---- what is wrong ---- */

static const struct option *refused_among;

static const char *flag_name(unsigned index)
{
    return refused_among[index].name;
}

/* Prints what is wrong with a flag that the command does not have: perhaps another one has it. */
static void refuse_word(const struct command_flags *table, const char *word)
{
    size_t length = length_of_name(word);
    bool has_value = word[2 + length] == '=';
    if (table->flags == of_run && sc_options_has(word + 2, length)) {
        sc_say("%.*s is an option, and no flag: --option %s%s", (int)length, word + 2, word + 2,
               has_value ? "" : "=VALUE");
        return;
    }
    for (size_t i = 0; i < TABLES; i++) {
        if (!has(&tables[i], word))
            continue;
        sc_say("--%.*s is a flag of safecopy %s; see safecopy help %s for those of safecopy %s",
               (int)length, word + 2, tables[i].command, table->command, table->command);
        return;
    }
    refused_among = table->flags;
    sc_say("there is no flag %s; did you mean --%s? See safecopy help %s", word,
           sc_nearest_word(word + 2, length, flag_name), table->command);
}

/* Prints what is wrong with a flag. `optopt` is the letter, or that of a long one whose value is
 * wrong; 0 for a word that is none. */
static void refuse(const struct command_flags *table, const char *word)
{
    const char letter[] = {'-', (char)optopt, '\0'}, *value = strchr(word, '=');
    bool is_word = strncmp(word, "--", 2) == 0;
    if (is_word && optopt == 0)
        refuse_word(table, word);
    else if (is_word && value)
        sc_say("%.*s takes no value, and has '%s'", (int)(value - word), word, value + 1);
    else
        sc_say("not understood, or without its value: %s; see safecopy help %s",
               is_word || optopt == 0 ? word : letter, table->command);
}

/* Was the flag's value left out? A word of its own that begins as a flag does was not meant for a
 * value: the value was left out. "-" is standard input or output. */
static bool lacks_value(const struct command_flags *table, char *const *argv)
{
    bool is_apart = optarg && optarg == argv[optind - 1];
    if (!is_apart || optarg[0] != '-' || optarg[1] == '\0')
        return false;
    sc_say("%s has no value: %s follows; see safecopy help %s", argv[optind - 2], optarg,
           table->command);
    return true;
}

/* Notes the flag's value. Returns true, after a message, if the flag was given before with another
 * value: only one could hold. */
static bool note_given(const struct command_flags *table, int letter)
{
    static const char *given[128]; /* by letter */
    const char *before = letter < 128 ? given[letter] : NULL;
    const struct option *flag = table->flags;
    while (flag->name && flag->val != letter)
        flag++;
    if (!strchr(table->once, letter))
        return false;
    given[letter] = optarg;
    bool is_other = before && strcmp(before, optarg) != 0;
    if (is_other)
        sc_say("--%s is given twice, with %s and %s: give one of them", flag->name, before, optarg);
    return is_other;
}

/* Returns the letter of the next flag, -1 if there are no more, or SC_FLAGS_WRONG, after a message,
 * if it is wrong. */
int sc_flags_next(int argc, char **argv)
{
    const struct command_flags *table = find_table(argv[0]);
    opterr = 0;
    int letter = getopt_long(argc, argv, table->letters, table->flags, NULL);
    if (letter == '?')
        refuse(table, argv[optind - 1]);
    else if (letter != -1 && (lacks_value(table, argv) || note_given(table, letter)))
        letter = SC_FLAGS_WRONG;
    return letter;
}
