/* What the program's user is told at once, on stderr. No lock; not for a signal handler of the
 * program's, and for that of a fault.
 */
#ifndef SC_INTERPOSE_BASE_WARNING_H
#define SC_INTERPOSE_BASE_WARNING_H

/* Says a line, as sc_text_format has it, unless verbosity=0. */
void sc_warning_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
