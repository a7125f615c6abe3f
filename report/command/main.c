/* safecopy: runs programs under libsafecopy.so and shows the reports that it wrote.
 *
 * Never preloaded, so it may use stdio, malloc, jansson and libelf. From the library it shares the
 * parsing of options.
 * links: report/file.c report/json.c report/ledger.c report/libraries.c report/mapped_file.c
 * links: report/nearest.c report/needed.c report/own_report.c report/path.c report/place.c
 * links: report/plain.c report/suppressions.c track/hazard.c track/own_lock.c track/pool.c
 */
#include "report/command/command.h"
#include "report/command/help.h"
#include "report/command/say.h"
#include "report/nearest.h"
#include "report/options.h"
#include "report/version.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct option *refused_among;

static const char *flag_name(unsigned index)
{
    return refused_among[index].name;
}

/* `optopt` is the letter, or that of a long one whose value is wrong; 0 for a word that is none. */
int sc_command_refuse_flag(char *const *argv, const struct option *flags)
{
    const char letter[] = {'-', (char)optopt, '\0'};
    const char *word = argv[optind - 1], *value = strchr(word, '=');
    bool is_word = strncmp(word, "--", 2) == 0;
    size_t length = is_word ? strcspn(word + 2, "=") : 0;
    refused_among = flags;
    if (is_word && optopt == 0 && strcmp(argv[0], "run") == 0 && sc_options_has(word + 2, length))
        sc_say("%.*s is an option, and no flag: --option %s%s", (int)length, word + 2, word + 2,
               value ? "" : "=VALUE");
    else if (is_word && optopt == 0)
        sc_say("there is no flag %s; did you mean --%s? See safecopy help %s", word,
               sc_nearest_word(word + 2, length, flag_name), argv[0]);
    else if (is_word && value)
        sc_say("%.*s takes no value, and has '%s'", (int)(value - word), word, value + 1);
    else
        sc_say("not understood, or without its value: %s; see safecopy help %s",
               is_word || optopt == 0 ? word : letter, argv[0]);
    return SC_COMMAND_USAGE;
}

static bool asks_for_help(const char *word)
{
    return word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0);
}

typedef int command(int argc, char **argv);

/* As sc_help_command has them. */
static command *const commands[] = {sc_command_run, sc_command_report, sc_command_explain,
                                    sc_command_doctor};

static command *find_command(const char *name)
{
    for (unsigned i = 0; sc_help_command(i); i++)
        if (strcmp(sc_help_command(i), name) == 0)
            return commands[i];
    return NULL;
}

static int refuse_command(const char *word)
{
    sc_say("there is no command %s; did you mean %s? See safecopy help", word,
           sc_nearest_word(word, strlen(word), sc_help_command));
    return SC_COMMAND_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        sc_say("what to do? run, report, explain or doctor; see safecopy help");
        return SC_COMMAND_USAGE;
    }
    command *run = find_command(argv[1]);
    if (run && asks_for_help(argv[2]))
        return sc_help_print(argv[1]);
    if (run)
        return run(argc - 1, argv + 1);
    if (asks_for_help(argv[1]) || strcmp(argv[1], "help") == 0)
        return sc_help_print(argv[2]);
    if (strcmp(argv[1], "--version") == 0) {
        puts("safecopy " SC_VERSION);
        return 0;
    }
    return refuse_command(argv[1]);
}
