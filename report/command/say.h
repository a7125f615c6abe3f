/* Writes the command's messages to stderr. Words from outside (a path, an argument, a text in a
 * report) cannot control the terminal or begin a line. */
#ifndef SC_REPORT_COMMAND_SAY_H
#define SC_REPORT_COMMAND_SAY_H

/* Writes "safecopy: ...\n" to stderr. */
__attribute__((format(printf, 1, 2))) void sc_say(const char *format, ...);

/* Has messages passed to `take` from now on, without "safecopy: " and without escapes. NULL: ends
 * that. */
void sc_say_to(void take(const char *text));

/* Returns `text` with control characters escaped (report/plain.h): `text` itself if it has none, or
 * a copy that lives until sc_say_forget. */
const char *sc_say_plain(const char *text);
void sc_say_forget(void);

#endif
