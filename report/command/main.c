/* safecopy: runs programs under libsafecopy.so and shows the reports that it wrote.
 *
 * Never preloaded, so it may use stdio, malloc, jansson and libelf. From the library it shares the
 * parsing of options.
 * links: report/file.c report/json.c report/roll.c report/libraries.c
 * links: report/mapped_file.c report/mechanism.c report/nearest.c report/needed.c
 * links: report/own_report.c report/path.c report/place.c report/plain.c
 * links: report/suppressions.c report/userfaultfd.c common/hazard_words.c common/library_lock.c
 * links: common/own_pages.c common/pool.c
 */
#include "report/command/command.h"
#include "report/command/help.h"
#include "report/command/say.h"
#include "report/nearest.h"
#include "report/version.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool asks_for_help(const char *word)
{
    return word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0);
}

typedef int command(int argc, char **argv);

/* As sc_help_command has them. */
static command *const commands[] = {sc_command_run, sc_command_report, sc_command_explain,
                                    sc_command_doctor, sc_command_watch};

/* Returns the function of the command; NULL: there is none of this name. */
static command *find_command(const char *name)
{
    for (unsigned i = 0; sc_help_command(i); i++)
        if (strcmp(sc_help_command(i), name) == 0)
            return commands[i];
    return NULL;
}

/* Says that there is no such command, and which may have been meant. */
static int refuse_command(const char *word)
{
    sc_say("there is no command %s; did you mean %s? See safecopy help", word,
           sc_nearest_word(word, strlen(word), sc_help_command));
    return SC_COMMAND_USAGE;
}

/* Runs the command that the first argument names. */
int main(int argc, char **argv)
{
    if (argc < 2) {
        sc_say("what to do? run, report, watch, explain or doctor; see safecopy help");
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
