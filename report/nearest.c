#define _GNU_SOURCE 1
#include "report/nearest.h"

#include <stdint.h>
#include <string.h>

#include "common/poison.h"

/* Bytes of a given word that are compared; the shortest word that counts as a part of another. */
enum { GIVEN_MAX = 64, PART_MIN = 4 };

/* Returns the least of three numbers: of the ways by which one word becomes the other. */
static size_t least_of(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Returns how many letters have to be added, removed or replaced to make `given` into `word`
 * (Levenshtein's distance). `row` has the distances of the word so far from each beginning of
 * `given`. `length` is at most GIVEN_MAX. */
static size_t edit_distance(const char *given, size_t length, const char *word)
{
    size_t row[GIVEN_MAX + 1];
    for (size_t i = 0; i <= length; i++)
        row[i] = i;
    for (size_t j = 0; word[j] != '\0'; j++) {
        size_t diagonal = row[0];
        row[0] = j + 1;
        for (size_t i = 0; i < length; i++) {
            size_t replaced = diagonal + (given[i] != word[j]);
            diagonal = row[i + 1];
            row[i + 1] = least_of(replaced, row[i] + 1, row[i + 1] + 1);
        }
    }
    return row[length];
}

/* Returns how far the misspelt word `given` is from a valid one. 0, nearer than any misspelling:
 * one contains the other ("held" and "max_held"), unless the part is so short that it is in many
 * words. */
static size_t word_distance(const char *given, size_t length, const char *word)
{
    size_t word_length = strlen(word);
    if (length >= PART_MIN && memmem(word, word_length, given, length))
        return 0;
    if (word_length >= PART_MIN && memmem(given, length, word, word_length))
        return 0;
    return edit_distance(given, length, word);
}

/* Returns the valid word that `given` was most likely meant to be; the first of equally near ones.
 * Capitals count as small letters. Only the first GIVEN_MAX bytes are compared. */
const char *sc_nearest_word(const char *given, size_t length, sc_nearest_words *words)
{
    const char *nearest = NULL, *word;
    size_t least = SIZE_MAX;
    char lower[GIVEN_MAX];
    if (length > GIVEN_MAX)
        length = GIVEN_MAX;
    for (size_t i = 0; i < length; i++)
        lower[i] = (char)(given[i] >= 'A' && given[i] <= 'Z' ? given[i] + ('a' - 'A') : given[i]);
    for (unsigned i = 0; (word = words(i)) != NULL; i++) {
        size_t here = word_distance(lower, length, word);
        if (here < least) {
            least = here;
            nearest = word;
        }
    }
    return nearest;
}
