/* Which word somebody meant who misspelt one. Pure: no allocation, no locale. */
#ifndef SC_REPORT_NEAREST_H
#define SC_REPORT_NEAREST_H

#include <stddef.h>

/* The valid words, in lower case, by index; NULL past the last. */
typedef const char *sc_nearest_words(unsigned index);

/* The valid word nearest to the `length` bytes at `given`; of equally near words the first.
 * Capitals are read as small letters. */
const char *sc_nearest_word(const char *given, size_t length, sc_nearest_words *words);

#endif
