#define _GNU_SOURCE 1
#include "report/command/symbolizer/symbol_answer.h"

#include <string.h>

/* The name, and for each place the number of its line and three words. A word is 'w' and a string,
 * or 'n' for NULL. */

/* Writes a word, or that there is none. */
static void put_word(char **at, const char *word, size_t size_max)
{
    size_t length = word ? strnlen(word, size_max) : size_max;
    bool has_word = length < size_max;
    *(*at)++ = has_word ? 'w' : 'n';
    if (!has_word)
        return;
    memcpy(*at, word, length + 1);
    *at += length + 1;
}

/* Writes an answer as bytes that another process can read. Returns their number. */
size_t sc_symbol_answer_put(char *bytes, const struct sc_symbol_answer *answer)
{
    char *at = bytes;
    put_word(&at, answer->name, SC_SYMBOL_NAME_MAX);
    for (size_t i = 0; i < answer->place_count; i++) {
        const struct sc_source_place *place = &answer->places[i];
        memcpy(at, &place->line, sizeof place->line);
        at += sizeof place->line;
        put_word(&at, place->function, SC_SYMBOL_NAME_MAX);
        put_word(&at, place->file, SC_SYMBOL_PATH_MAX);
        put_word(&at, place->folder, SC_SYMBOL_PATH_MAX);
    }
    return (size_t)(at - bytes);
}

/* Reads a word that put_word has written. Returns false if the bytes are damaged. */
static bool take_word(const char **at, const char *end, const char **word)
{
    bool has_word = *at < end && **at == 'w';
    if (!has_word && (*at == end || **at != 'n'))
        return false;
    *word = has_word ? ++*at : NULL;
    const char *last = has_word ? memchr(*at, '\0', (size_t)(end - *at)) : *at;
    *at = last ? last + 1 : end;
    return last;
}

/* Takes a place of the answer and moves *at behind it. False: the answer is cut or damaged. */
static bool take_place(const char **at, const char *end, struct sc_source_place *place)
{
    if ((size_t)(end - *at) < sizeof place->line)
        return false;
    memcpy(&place->line, *at, sizeof place->line);
    *at += sizeof place->line;
    return take_word(at, end, &place->function) && take_word(at, end, &place->file) &&
           take_word(at, end, &place->folder);
}

/* Reads an answer back, into words that lie in the bytes. Returns false if they are damaged. */
bool sc_symbol_answer_take(const char *bytes, size_t size, struct sc_symbol_answer *answer)
{
    const char *at = bytes, *end = bytes + size;
    answer->place_count = 0;
    bool is_good = take_word(&at, end, &answer->name);
    while (is_good && at < end) {
        is_good = answer->place_count < SC_SOURCE_PLACES_MAX &&
                  take_place(&at, end, &answer->places[answer->place_count]);
        answer->place_count++;
    }
    if (is_good)
        return true;
    answer->name = NULL;
    answer->place_count = 0;
    return false;
}
