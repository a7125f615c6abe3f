/* Writes the command's messages to stderr. No word from outside (a path, an argument, a text out of
 * a report) may steer the terminal or begin a line. */
#ifndef SC_REPORT_COMMAND_SAY_H
#define SC_REPORT_COMMAND_SAY_H

/* "safecopy: ...\n" on stderr. */
__attribute__((format(printf, 1, 2))) void sc_say(const char *format, ...);

/* Has `take` get what is said instead, without "safecopy: " and as it was put together. NULL: no
 * more. */
void sc_say_to(void take(const char *text));

/* `text` made harmless for a terminal (report/plain.h): `text` itself, or a copy that lives until
 * sc_say_forget. */
const char *sc_say_plain(const char *text);
void sc_say_forget(void);

#endif
