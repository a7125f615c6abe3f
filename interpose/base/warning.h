/* Writes warnings to the program's user, at once, on stderr. No lock. May be called in the handler
 * of a fault, not in a signal handler of the program. */
#ifndef SC_INTERPOSE_BASE_WARNING_H
#define SC_INTERPOSE_BASE_WARNING_H

/* Writes a line, formatted as by sc_text_format, unless verbosity=0. */
void sc_warning_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
