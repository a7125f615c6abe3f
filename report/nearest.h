/* Guesses which valid word a misspelt word was meant to be, for complaints such as "did you mean
 * ...?". Pure: no allocation, no locale. */
#ifndef SC_REPORT_NEAREST_H
#define SC_REPORT_NEAREST_H

#include <stddef.h>

/* The valid words, in lower case, by index; NULL past the last. */
typedef const char *sc_nearest_words(unsigned index);

/* The valid word that is nearest to the `length` bytes at `given`; the first, if several are
 * equally near. Capitals are read as small letters. */
const char *sc_nearest_word(const char *given, size_t length, sc_nearest_words *words);

#endif
