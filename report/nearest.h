/* Guesses which valid word a misspelt word was meant to be, for complaints such as "did you mean
 * ...?". Pure: no allocation, no locale. */
#ifndef SC_REPORT_NEAREST_H
#define SC_REPORT_NEAREST_H

#include <stddef.h>

/* Returns the valid word with this index, in lower case; NULL past the last. */
typedef const char *sc_nearest_words(unsigned index);

/* Returns the valid word that is nearest to the `length` bytes at `given`; the first of several
 * equally near ones. Capital letters are read as small ones. */
const char *sc_nearest_word(const char *given, size_t length, sc_nearest_words *words);

#endif
