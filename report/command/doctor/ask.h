/* The hidden command that `safecopy doctor` starts as a process of its own: it loads the driver and
 * asks it, which may end the process.
 *
 * `safecopy doctor` starts itself for this, with and without the preload. The answers go to stdout
 * as soon as each is known, one JSON object a line, so that what a crash leaves is known as
 * well. */
#ifndef SC_REPORT_COMMAND_DOCTOR_ASK_H
#define SC_REPORT_COMMAND_DOCTOR_ASK_H

/* The flag of `safecopy doctor` that asks; not for users. */
#define SC_ASK_FLAG "--ask"

/* `library` is the path of libsafecopy.so, or "". Returns an exit status. */
int sc_ask(const char *library);

#endif
