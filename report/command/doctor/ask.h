/* The hidden command by which `safecopy doctor` loads and questions the driver in a process of its
 * own, since the driver may end the process.
 *
 * `safecopy doctor` starts itself for this, with and without the preload. Each answer is written to
 * stdout at once, as one JSON object a line, so that answers before a crash are not lost. */
#ifndef SC_REPORT_COMMAND_DOCTOR_ASK_H
#define SC_REPORT_COMMAND_DOCTOR_ASK_H

/* The flag of `safecopy doctor` that asks; not for users. */
#define SC_ASK_FLAG "--ask"

/* Loads the driver, asks it, and writes the answers. `library`: the path of libsafecopy.so, or "".
 * Returns an exit status. */
int sc_ask(const char *library);

#endif
