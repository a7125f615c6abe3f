/* Runs a program as exec would, but returns when the program has ended.
 *
 * The program is a child in the process group of the command, so the terminal's signals reach both.
 * The command passes on every signal that a process sends it, stops when the program stops and,
 * when it is killed, has the Linux kernel kill the program. The program has the files, the signal
 * mask and the signal dispositions that the command was started with. The command keeps none of
 * these files open but stderr (and stdout, if asked), since a reader at the other end of a pipe
 * waits until the last of them is closed. */
#ifndef SC_REPORT_COMMAND_PROGRAM_H
#define SC_REPORT_COMMAND_PROGRAM_H

#include <stdbool.h>

enum sc_program_stdout {
    SC_PROGRAM_STDOUT_LET_GO,   /* stdout is the program's; in this process it becomes stderr */
    SC_PROGRAM_STDOUT_KEPT,     /* both write to it */
    SC_PROGRAM_STDOUT_IS_STDERR /* stdout is this process's; in the program it is stderr */
};

struct sc_program_ways {
    enum sc_program_stdout out;
    /* a descriptor that this process keeps open (close-on-exec); -1: none */
    int own;
    /* return only when all processes that the program has left running have ended, too, or when
     * SIGHUP, SIGINT, SIGQUIT or SIGTERM comes after the program's end */
    bool awaits;
    int limit_s; /* seconds that this may take; negative: no limit */
    int *pid;    /* gets the program's process id; NULL: not wanted */
};

/* Runs argv[0], which is searched as a shell does. Returns the program's status as wait(2) does, or
 * -errno if the program could not be started. To be called once, by the only thread. */
int sc_program_run(char **argv, const struct sc_program_ways *ways);

/* Ends this process by the signal that has ended the program, without a core dump. Returns the
 * status to exit with if no signal has, or if this process survives it (process 1). */
int sc_program_end_alike(int status);

#endif
