/* Runs a program as exec would, and comes back when it has ended.
 *
 * The program is a child in the process group of the command, so the terminal's signals reach both.
 * The command passes on every signal that a process sends it, stops when the program stops and,
 * when it is killed, has the kernel kill the program. The program has the files, the signal mask
 * and the dispositions that the command was started with. The command keeps none of these files but
 * stderr (and stdout, if asked), since a reader at the other end waits for the last of them.
 */
#ifndef SC_REPORT_COMMAND_PROGRAM_H
#define SC_REPORT_COMMAND_PROGRAM_H

#include <stdbool.h>

enum sc_program_stdout {
    SC_PROGRAM_STDOUT_LET_GO,   /* the program's; this process's becomes stderr */
    SC_PROGRAM_STDOUT_KEPT,     /* both write to it */
    SC_PROGRAM_STDOUT_IS_STDERR /* this process's; the program's is stderr */
};

struct sc_program_ways {
    enum sc_program_stdout out;
    /* a descriptor of the command's own, close-on-exec, that stays open; -1: there is none */
    int own;
    /* returns only when all that the program has left running has ended, too, or when SIGHUP,
     * SIGINT, SIGQUIT or SIGTERM comes after its end */
    bool awaits;
    int limit_s; /* negative: there is no limit */
    int *pid;    /* gets the program's number; NULL: nobody asks */
};

/* Runs argv[0], which is looked for as a shell does. Returns the program's status as wait(2) has
 * it, or -errno if the program could not be started. To be called by the only thread, once. */
int sc_program_run(char **argv, const struct sc_program_ways *ways);

/* Ends this process by the signal that has ended the program, without a core dump. Returns the
 * status to exit with if no signal has, or if this process survives it (process 1). */
int sc_program_end_alike(int status);

#endif
