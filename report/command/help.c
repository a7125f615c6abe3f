#include "report/command/help.h"

#include "report/command/command.h"
#include "report/command/say.h"
#include "report/nearest.h"
#include "report/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char run_page[] =
    "usage: safecopy run [--strict [--require-judged]] [--option KEY=VALUE]...\n"
    "                    [--report PATH | --report-dir DIR] [--suppressions FILE] [--injection]\n"
    "                    [--wait[=SECONDS]]\n"
    "                    [--format FORMAT [-o FILE [--output-mode MODE]] [--source-root DIR]...]\n"
    "                    [--] PROGRAM [ARG]...\n"
    "\n"
    "Starts PROGRAM with libsafecopy.so preloaded.\n"
    "\n"
    "  --strict             exit status 66 if a hazard is found, in whatever process of the run\n"
    "                       (--strict=0: not so)\n"
    "  --require-judged     the same if nothing was judged: no process of the run used CUDA, as "
    "far\n"
    "                       as was seen\n"
    "  --wait[=SECONDS]     waits for what PROGRAM leaves running; else that is named\n"
    "  --option KEY=VALUE   sets an option, on top of SAFECOPY_OPTIONS: safecopy help options\n"
    "  --report PATH        where the report goes (%p pid, %e executable, %h host, %r rank)\n"
    "  --report-dir DIR     a report for each process in DIR, which is made if need be\n"
    "  --suppressions FILE  what the file leaves out is no hazard; a mistake in it starts nothing\n"
    "  --injection          has the driver load the library, which finds less\n"
    "  --format FORMAT      shows on stderr what was reported, when PROGRAM has ended: text, "
    "json,\n"
    "                       html, sarif, junit, github, markdown, memory, collapsed,\n"
    "                       collapsed-peak, pprof, prometheus, perfetto, otlp-logs, "
    "otlp-metrics\n"
    "  -o FILE              shows it in FILE ('-' is standard output)\n"
    "  --output-mode MODE   who may read FILE: private (you, or who could read it before), or\n"
    "                       umask, which decides alone\n"
    "  --source-root DIR    with source from below DIR alone\n"
    "\n"
    "exit status: PROGRAM's; 66 with --strict; 2 nothing was started, 126 or 127 PROGRAM cannot "
    "be\n"
    "run\n";

static const char report_page[] =
    "usage: safecopy report [--format FORMAT] [-o FILE [--output-mode MODE]] [--filter TERMS]\n"
    "                       [--baseline OLD]... [--suppressions FILE] [FLAG]... FILE...\n"
    "\n"
    "Shows the hazards of one or more reports, equal ones merged ('-' is standard input).\n"
    "\n"
    "  --format FORMAT      text, json (or --json), html, sarif, junit, github, markdown,\n"
    "                       memory, collapsed, collapsed-peak, pprof, prometheus, perfetto,\n"
    "                       otlp-logs, otlp-metrics\n"
    "  -o FILE              into FILE, which is there whole or not at all\n"
    "  --output-mode MODE   who may read FILE: private (you, or who could read it before), or\n"
    "                       umask, which decides alone\n"
    "  --filter TERMS       KEY=PATTERN, or !KEY=PATTERN; commas mean `and`. Keys: code, name,\n"
    "                       certainty, action, file, function, module, label\n"
    "  --baseline OLD       what is new, unchanged and fixed since OLD, a report or its JSON\n"
    "  --between FROM,TO    with --format memory or html: what has grown between two lines about\n"
    "                       memory, by number (3,7) or the time since the first (90s,10m)\n"
    "  --debug-dir DIR      where modules and debug files are that are not at their paths\n"
    "  --path-map OLD=NEW   where sources are that were built or run below OLD\n"
    "  --source-root DIR    shows source from below DIR alone, links followed\n"
    "  --frames FILE        rules that say which frames are the user's own\n"
    "  --suppressions FILE  marks what the file leaves out, which then is no hazard\n"
    "  --suggest-suppressions  entries for a file of suppressions, to be given reasons\n"
    "  --merged             makes one of all runs, in memory that does not grow with them\n"
    "\n"
    "exit status: 0 no hazards, 1 hazards, 2 a report, or a line of it, could not be read;\n"
    "with --baseline 66 new hazards, else 0\n";

static const char explain_page[] = "usage: safecopy explain [CODE]...\n"
                                   "\n"
                                   "Prints what docs/hazards.md says of a hazard: its code "
                                   "(SC201), its name, or the beginning of\n"
                                   "codes (SC2). Without one it lists all.\n"
                                   "\n"
                                   "exit status: 0, or 2 there is no such hazard\n";

static const char doctor_page[] =
    "usage: safecopy doctor [--format FORMAT] [--no-run] [[--] PROGRAM [ARG]...]\n"
    "\n"
    "Says what on this machine, and in PROGRAM, is in the library's way, and what helps.\n"
    "\n"
    "  --format FORMAT      text or json\n"
    "  --no-run             looks at PROGRAM's file alone; else PROGRAM is run with the library,\n"
    "                       and what it prints goes to stderr\n"
    "\n"
    "exit status: 0 no problem, 1 a problem, 2 nothing could be found out\n";

static const char watch_page[] =
    "usage: safecopy watch [--until-ended[=SECONDS]] [--every SECONDS] [--lines]\n"
    "                      [--otlp URL [--state FILE]] FOLDER...\n"
    "\n"
    "Follows the reports in folders (or files) while processes write them: a table on a terminal,\n"
    "lines else. Ctrl-C ends it.\n"
    "\n"
    "  --until-ended        ends when all processes have ended, and all is sent; with SECONDS, a\n"
    "                       process of another machine has when its report was not changed for so\n"
    "                       long\n"
    "  --every SECONDS      looks so often; 1 if nothing is said\n"
    "  --lines              prints lines on a terminal as well\n"
    "  --otlp URL           sends hazards and memory to URL/v1/logs and URL/v1/metrics, as they\n"
    "                       happen (OpenTelemetry, http://HOST:4318)\n"
    "  --state FILE         where FILE says how far was sent, the next run goes on\n"
    "\n"
    "exit status: 0 no hazards, 1 hazards, 2 a line could not be read, or not all was sent\n";

static const char overview[] =
    "usage: safecopy COMMAND [FLAG]... [ARG]...\n"
    "\n"
    "  run      starts a program with libsafecopy.so preloaded\n"
    "  report   shows the hazards of reports\n"
    "  watch    follows reports while processes write them\n"
    "  explain  says what a hazard is\n"
    "  doctor   says what on this machine, and in a program, is in the library's way\n"
    "\n"
    "safecopy help COMMAND     the flags of a command (or safecopy COMMAND --help)\n"
    "safecopy help options     what SAFECOPY_OPTIONS and run --option take\n"
    "safecopy --version        the version\n"
    "\n"
    "safecopy run --strict --format text -- ./app   is what most begin with.\n";

/* NULL: the table of options. */
static const struct page {
    const char *name, *text;
} pages[] = {
    {"run", run_page},       {"report", report_page}, {"explain", explain_page},
    {"doctor", doctor_page}, {"watch", watch_page},   {"options", NULL},
};

enum { PAGE_COUNT = sizeof pages / sizeof pages[0] };

static const char *page_name(unsigned index)
{
    return index < PAGE_COUNT ? pages[index].name : NULL;
}

/* Returns the name of a command; NULL past the last. The page on options, which is no command, has
 * no text here and comes last. */
const char *sc_help_command(unsigned index)
{
    return index < PAGE_COUNT && pages[index].text ? pages[index].name : NULL;
}

/* Prints a page of help; NULL: the table of options, which the library shares. */
static void print(const char *text)
{
    if (text)
        fputs(text, stdout);
    else
        sc_options_print_table(STDOUT_FILENO);
}

/* Prints the help on a command or topic, NULL: an overview. Returns the exit status. */
int sc_help_print(const char *name)
{
    if (!name) {
        print(overview);
        return 0;
    }
    for (unsigned i = 0; i < PAGE_COUNT; i++) {
        if (strcmp(pages[i].name, name) == 0) {
            print(pages[i].text);
            return 0;
        }
    }
    sc_say("there is no help on '%s'; did you mean '%s'?", name,
           sc_nearest_word(name, strlen(name), page_name));
    return SC_COMMAND_USAGE;
}
