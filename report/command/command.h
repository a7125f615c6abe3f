/* The subcommands of `safecopy`. Each gets its own name as argv[0] and returns an exit status. */
#ifndef SC_REPORT_COMMAND_COMMAND_H
#define SC_REPORT_COMMAND_COMMAND_H

#include <stdbool.h>

struct sc_outfile_place;
struct sc_source_roots;

enum { SC_COMMAND_FOUND = 1, SC_COMMAND_USAGE = 2, SC_COMMAND_NEW = 66 };

/* safecopy run: replaces itself by a program that runs with the library. If --format or strict asks
 * for more, it starts the program as a child instead, and shows or judges what was reported when
 * the program has ended. Returns the program's status, or `exitcode` if the program ended with 0
 * and strict fails the run or cannot judge it; 2 for bad options or a missing library; as a shell,
 * 126 for a program that cannot be run and 127 for one that is not found. */
int sc_command_run(int argc, char **argv);

/* safecopy report: shows reports. Returns 0 without hazards, 1 with hazards; 2 if a report, or a
 * line of one without hazards, could not be read, or nothing could be written. With a baseline: 66
 * if there are new hazards, else 0. */
int sc_command_report(int argc, char **argv);

/* Shows the reports at `paths` (up to a NULL) as `safecopy report` does, in a format that exists,
 * and returns its status. `roots`: below which source may be shown. */
int sc_command_show(const char *format, const struct sc_outfile_place *out,
                    struct sc_source_roots *roots, char *const *paths);

/* safecopy explain: prints what the documentation says about the named hazards. Returns 0; 2: there
 * is no such hazard. */
int sc_command_explain(int argc, char **argv);

/* safecopy doctor: prints what on this machine, and in a program, hinders the library. Returns 0:
 * nothing; 1: something; 2: it could not be found out. Also runs the program, unless a flag forbids
 * it. */
int sc_command_doctor(int argc, char **argv);

/* safecopy watch: follows reports while processes write them, until a signal comes or, if asked to,
 * all processes have ended. Returns 0 without hazards, 1 with hazards; 2 for wrong flags, for lines
 * that could not be read if there was no hazard, and if not all was sent that should have been. */
int sc_command_watch(int argc, char **argv);

/* Returns true if the format exists; else writes to stderr which formats there are. */
bool sc_command_has_format(const char *name);

#endif
