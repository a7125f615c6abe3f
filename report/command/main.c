/* safecopy: runs programs under libsafecopy.so and shows the reports that it wrote.
 *
 * Never preloaded, so it may use stdio, malloc, jansson and libelf. From the library it shares the
 * parsing of options.
 * links: report/file.c report/ledger.c report/libraries.c report/mapped_file.c report/nearest.c
 * links: report/needed.c report/path.c report/plain.c report/suppressions.c track/hazard.c
 * links: track/own_lock.c track/pool.c
 */
#include "report/command/command.h"
#include "report/command/say.h"
#include "report/options.h"
#include "report/version.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: safecopy run [--strict] [--option KEY=VALUE]... [--report PATH | --report-dir DIR]\n"
    "                    [--suppressions FILE] [--injection]\n"
    "                    [--format FORMAT [-o FILE] [--source-root DIR]...] [--] PROGRAM [ARG]...\n"
    "       safecopy report [--format FORMAT] [-o FILE] [--filter TERMS] [--baseline OLD]... "
    "FILE...\n"
    "       safecopy explain [CODE]...\n"
    "       safecopy doctor [--format FORMAT] [--no-run] [[--] PROGRAM [ARG]...]\n"
    "       safecopy --help | --version\n"
    "\n"
    "run     starts PROGRAM with libsafecopy.so preloaded\n"
    "          --strict             exit status 66 if a hazard is found\n"
    "          --option KEY=VALUE   sets an option, on top of SAFECOPY_OPTIONS\n"
    "          --report PATH        where the report goes (%p pid, %e executable, %h host, %r "
    "rank)\n"
    "          --report-dir DIR     a report for each process in DIR, which is made if need be\n"
    "          --suppressions FILE  what the file leaves out is no hazard; a mistake in it starts "
    "nothing\n"
    "          --injection          has the driver load the library, which finds less\n"
    "          --format FORMAT      shows on stderr what was reported, when PROGRAM has ended\n"
    "          -o FILE              shows it in FILE ('-' is standard output)\n"
    "          --output-mode MODE   who may read FILE, as below\n"
    "          --source-root DIR    with source from below DIR alone\n"
    "        exit status: PROGRAM's; 2 nothing was started, 126 or 127 PROGRAM cannot be run\n"
    "report  shows the hazards of one or more reports, equal ones merged ('-' is standard input)\n"
    "          --format FORMAT      text, json (or --json), html, sarif, junit, github, markdown, "
    "perfetto\n"
    "          -o FILE              into FILE, which is there whole or not at all\n"
    "          --output-mode MODE   who may read FILE: private (you, or who could read it before), "
    "or\n"
    "                               umask, which decides alone\n"
    "          --filter TERMS       KEY=PATTERN, or !KEY=PATTERN; commas mean `and`. Keys: code, "
    "name,\n"
    "                               certainty, action, file, function, module, label\n"
    "          --baseline OLD       what is new, unchanged and fixed since OLD, a report or its "
    "JSON\n"
    "          --debug-dir DIR      where modules and debug files are that are not at their paths\n"
    "          --path-map OLD=NEW   where sources are that were built or run below OLD\n"
    "          --source-root DIR    shows source from below DIR alone, links followed\n"
    "          --frames FILE        rules that say which frames are the user's own\n"
    "          --suppressions FILE  marks what the file leaves out, which then is no hazard\n"
    "          --suggest-suppressions  entries for a file of suppressions, to be given reasons\n"
    "        exit status: 0 no hazards, 1 hazards, 2 a report, or a line of it, could not be "
    "read;\n"
    "        with --baseline 66 new hazards, else 0\n"
    "explain prints what docs/hazards.md says of a hazard\n"
    "doctor  says what on this machine, and in PROGRAM, is in the library's way, and what helps\n"
    "          --format FORMAT      text or json\n"
    "          --no-run             looks at PROGRAM's file alone; else PROGRAM is run with the\n"
    "                               library, and what it prints goes to stderr\n"
    "        exit status: 0 no problem, 1 a problem, 2 nothing could be found out\n"
    "\n";

static int usage(const char *problem, const char *word)
{
    sc_say("%s%s; see safecopy --help", problem, word);
    return SC_COMMAND_USAGE;
}

/* `optopt` is the letter, or 0 for a word that is none of the long ones. */
int sc_command_refuse_flag(char *const *argv)
{
    const char letter[] = {'-', (char)optopt, '\0'};
    const char *word = argv[optind - 1];
    bool is_word = optopt == 0 || strncmp(word, "--", 2) == 0;
    return usage("not understood, or without its value: ", is_word ? word : letter);
}

static bool asks_for_help(const char *word)
{
    return word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0);
}

static int print_help(void)
{
    fputs(help, stdout);
    fflush(stdout);
    sc_options_print_table(STDOUT_FILENO);
    return 0;
}

typedef int command(int argc, char **argv);

static command *find_command(const char *name)
{
    static const struct {
        const char *name;
        command *run;
    } commands[] = {
        {"run", sc_command_run},
        {"report", sc_command_report},
        {"explain", sc_command_explain},
        {"doctor", sc_command_doctor},
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].run;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return usage("what to do? run, report, explain or doctor", "");
    command *run = find_command(argv[1]);
    if (asks_for_help(argv[1]) || (run && asks_for_help(argv[2])))
        return print_help();
    if (run)
        return run(argc - 1, argv + 1);
    if (strcmp(argv[1], "--version") == 0) {
        puts("safecopy " SC_VERSION);
        return 0;
    }
    return usage("there is no command ", argv[1]);
}
