#define _GNU_SOURCE 1
#include "report/command/parse.h"

#include "report/command/eight_bytes.h"
#include "report/plain.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 2048, BLOCK = 256 };

/* Limits of objects that are kept as pieces. */
enum { PIECE_DEPTH_MAX = 8, PIECE_MIN = 32, PIECE_MAX = 1024 };

struct parsing {
    const char *at, *end;
    unsigned depth;
    char *word; /* the last string or number, with a NUL behind it */
    size_t length, capacity;
    struct sc_pieces *pieces; /* NULL: none */
    bool is_packed;
};

static json_t *parse_value(struct parsing *parsing);

/* Returns the next byte after blanks, or -1 if there is none. */
static int peek(struct parsing *parsing)
{
    while (parsing->at < parsing->end && (*parsing->at == ' ' || *parsing->at == '\t' ||
                                          *parsing->at == '\n' || *parsing->at == '\r'))
        parsing->at++;
    return parsing->at < parsing->end ? (unsigned char)*parsing->at : -1;
}

/* Passes over blanks, and the character if it is the wanted one. Returns whether it was. */
static bool skip(struct parsing *parsing, char wanted)
{
    bool is_there = peek(parsing) == wanted;
    parsing->at += is_there;
    return is_there;
}

/* ---- words ---- */

/* Appends to the word that is being read. Returns false if memory runs out. */
static bool append(struct parsing *parsing, const char *bytes, size_t count)
{
    size_t wanted = parsing->length + count + 1;
    if (wanted > parsing->capacity) {
        char *larger = realloc(parsing->word, 2 * wanted + BLOCK);
        if (!larger)
            return false;
        parsing->word = larger;
        parsing->capacity = 2 * wanted + BLOCK;
    }
    memcpy(parsing->word + parsing->length, bytes, count);
    parsing->length += count;
    parsing->word[parsing->length] = '\0';
    return true;
}

/* Returns the value of a hexadecimal digit; -1: it is none. */
static int value_of_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Reads the four digits of \uXXXX. Returns -1 if they are none. */
static int take_unit(struct parsing *parsing)
{
    int unit = 0;
    if (parsing->end - parsing->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = value_of_digit(*parsing->at++);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* Appends a character that was written as \uXXXX. */
static bool append_code(struct parsing *parsing, uint32_t code)
{
    static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    char bytes[4];
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    bytes[0] = (char)(heads[size] | code);
    return append(parsing, bytes, size);
}

/* Is it the first half of a character beyond U+FFFF, as \u writes it? */
static bool is_high(int unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

/* Is it the second half of such a character? */
static bool is_low(int unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

/* Reads the character of a \u escape. A NUL is not taken, nor half of a pair. */
static bool take_unicode(struct parsing *parsing)
{
    int unit = take_unit(parsing);
    if (unit <= 0 || is_low(unit))
        return false;
    if (!is_high(unit))
        return append_code(parsing, (uint32_t)unit);
    if (parsing->end - parsing->at < 2 || memcmp(parsing->at, "\\u", 2) != 0)
        return false;
    parsing->at += 2;
    int low = take_unit(parsing);
    return is_low(low) && append_code(parsing, 0x10000 + (((uint32_t)unit - 0xd800) << 10) +
                                                   (uint32_t)low - 0xdc00);
}

/* Reads what stands after a backslash. */
static bool take_escape(struct parsing *parsing)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char letter = parsing->at < parsing->end ? *parsing->at++ : '\0';
    const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
    if (letter == 'u')
        return take_unicode(parsing);
    return found && append(parsing, &meant[found - letters], 1);
}

/* Are these eight bytes plain: neither quotes nor backslashes, nor what may not stand in a
 * string? */
static bool are_eight_plain(const char *at)
{
    uint64_t bytes = sc_eight_bytes_at(at);
    return sc_eight_bytes_are_ascii(bytes) && !sc_eight_bytes_may_have(bytes, '"') &&
           !sc_eight_bytes_may_have(bytes, '\\');
}

/* Finds the next quote, backslash, or what may not stand in a string. */
static const char *end_of_plain(const char *at, const char *end)
{
    uint32_t code;
    while (end - at >= 8 && are_eight_plain(at))
        at += 8;
    while (at < end && *at != '"' && *at != '\\') {
        unsigned char byte = (unsigned char)*at;
        size_t length =
            byte < 0x80 ? byte >= ' ' : sc_plain_character(at, (size_t)(end - at), &code);
        if (length == 0)
            break;
        at += length;
    }
    return at;
}

/* Reads a string into parsing->word. */
static bool take_string(struct parsing *parsing)
{
    parsing->length = 0;
    if (!skip(parsing, '"'))
        return false;
    for (;;) {
        const char *stop = end_of_plain(parsing->at, parsing->end);
        if (!append(parsing, parsing->at, (size_t)(stop - parsing->at)) || stop == parsing->end)
            return false;
        parsing->at = stop + 1;
        if (*stop == '"')
            return true;
        if (*stop != '\\' || !take_escape(parsing))
            return false;
    }
}

/* ---- values ---- */

/* Parses a string. NULL: it is none, or no memory. */
static json_t *parse_string(struct parsing *parsing)
{
    if (!take_string(parsing))
        return NULL;
    return json_stringn_nocheck(parsing->word, parsing->length);
}

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* Is the word a number as JSON has them, and is it a whole one? */
static bool is_number(const char *word, bool *is_whole)
{
    word += *word == '-';
    size_t digits = count_digits(word);
    if (digits == 0 || (digits > 1 && *word == '0'))
        return false;
    word += digits;
    *is_whole = *word == '\0';
    if (*word == '.') {
        digits = count_digits(++word);
        if (digits == 0)
            return false;
        word += digits;
    }
    if (*word != 'e' && *word != 'E')
        return *word == '\0';
    word++;
    word += *word == '+' || *word == '-';
    digits = count_digits(word);
    return digits > 0 && word[digits] == '\0';
}

/* Returns the number as JSON's value. NULL: it is too large for what it is. */
static json_t *number_of(const char *word, bool is_whole)
{
    errno = 0;
    if (is_whole) {
        long long whole = strtoll(word, NULL, 10);
        return errno == 0 ? json_integer(whole) : NULL;
    }
    double real = strtod(word, NULL);
    return isinf(real) ? NULL : json_real(real);
}

/* Parses a number. NULL: it is none by JSON's grammar. */
static json_t *parse_number(struct parsing *parsing)
{
    const char *start = parsing->at;
    bool is_whole = false;
    parsing->length = 0;
    while (parsing->at < parsing->end && *parsing->at != '\0' &&
           strchr("+-.0123456789eE", *parsing->at))
        parsing->at++;
    if (!append(parsing, start, (size_t)(parsing->at - start)) ||
        !is_number(parsing->word, &is_whole))
        return NULL;
    return number_of(parsing->word, is_whole);
}

/* Parses true, false or null, which `value` stands for. NULL: it is another word. */
static json_t *parse_word(struct parsing *parsing, const char *word, json_t *value)
{
    size_t length = strlen(word);
    if ((size_t)(parsing->end - parsing->at) < length || memcmp(parsing->at, word, length) != 0)
        return NULL;
    parsing->at += length;
    return value;
}

/* Reads "key": value into the object. Returns false if it is wrong, or the key comes twice. */
static bool parse_member(struct parsing *parsing, json_t *object)
{
    char key[64];
    if (!take_string(parsing))
        return false;
    char *kept = parsing->length < sizeof key ? memcpy(key, parsing->word, parsing->length + 1)
                                              : strdup(parsing->word);
    size_t count = json_object_size(object);
    bool is_taken = kept && skip(parsing, ':') &&
                    json_object_set_new_nocheck(object, kept, parse_value(parsing)) == 0 &&
                    json_object_size(object) > count; /* no member has the key already */
    if (kept != key)
        free(kept);
    return is_taken;
}

/* Parses the members of an object up to its '}'. False: they are not well-formed. */
static bool parse_members(struct parsing *parsing, json_t *object)
{
    if (skip(parsing, '}'))
        return true;
    while (parse_member(parsing, object)) {
        if (skip(parsing, '}'))
            return true;
        if (!skip(parsing, ','))
            return false;
    }
    return false;
}

/* Finds the end of the string that begins before `at`. Returns NULL if it does not end. */
static const char *skip_string(const char *at, const char *end)
{
    while ((at = end_of_plain(at, end)) < end && *at == '\\' && end - at > 1)
        at += 2;
    return at < end && *at == '"' ? at + 1 : NULL;
}

/* Returns the end of the object that begins before `at`, if nothing is nested in it. */
static const char *find_end(const char *at, const char *end)
{
    while (at && at < end && *at != '}') {
        if (*at == '{' || *at == '[')
            return NULL;
        at = *at == '"' ? skip_string(at + 1, end) : at + 1;
    }
    return at && at < end ? at : NULL;
}

/* Returns whether the bytes are whole strings and what stands between them, with nothing nested.
 * Returns false for what would need a closer look: braces, brackets, bars and backslashes anywhere.
 */
static bool are_flat(const char *at, const char *end)
{
    uint64_t quotes = 0, bytes;
    for (; at < end; at += sizeof bytes) {
        bytes = end - at >= 8 ? sc_eight_bytes_at(at) : sc_eight_bytes_of(at, (size_t)(end - at));
        quotes ^= sc_eight_bytes_are(bytes, '"');
        bytes |= ('{' ^ '[') * SC_EIGHT_ONES;
        if (sc_eight_bytes_may_have(bytes, '{') || sc_eight_bytes_may_have(bytes, '|'))
            return false;
    }
    return !__builtin_parityll(quotes);
}

/* Returns the length of the object at the start if nothing is nested in it, or 0 if it is not worth
 * sharing. */
static size_t length_of_piece(const struct parsing *parsing)
{
    const char *at = parsing->at + 1, *end = parsing->end;
    size_t room = end - at > PIECE_MAX ? PIECE_MAX : (size_t)(end - at);
    const char *close = memchr(at, '}', room);
    if (close && !are_flat(at, close))
        close = find_end(at, at + room);
    size_t length = close ? (size_t)(close + 1 - parsing->at) : 0;
    return length > PIECE_MIN ? length : 0;
}

/* Reads an object that may have come before: the same text has the same value, which is shared. */
static json_t *parse_piece(struct parsing *parsing, size_t length)
{
    const char *start = parsing->at;
    struct sc_digest digest;
    struct sc_piece *piece = sc_pieces_find(parsing->pieces, start, length, &digest);
    json_t *value = piece ? json_incref(piece->value) : parse_value(parsing);
    if (!piece && value)
        piece = sc_pieces_add(parsing->pieces, &digest, start, length, value);
    if (piece)
        sc_pieces_note(parsing->pieces, start, piece);
    parsing->at = value ? start + length : parsing->at;
    return value;
}

/* Returns the value that a packed text refers to by its address. */
static json_t *value_of_reference(const char *at)
{
    json_t *value;
    memcpy(&value, at + 1, sizeof value);
    return value;
}

/* Parses a reference to a piece (an object that many lines share). The frames of a stack lie far
 * apart in memory, so a later one is prefetched meanwhile; what is no reference may be prefetched
 * as well, which does no harm. */
static json_t *parse_reference(struct parsing *parsing)
{
    enum { AHEAD = 4 * (SC_PIECES_REFERENCE_SIZE + 1) };
    json_t *value = value_of_reference(parsing->at);
    const char *ahead = parsing->at + AHEAD;
    if (parsing->end - ahead > SC_PIECES_REFERENCE_SIZE && *ahead == SC_PIECES_MARK)
        __builtin_prefetch(value_of_reference(ahead), 1);
    parsing->at += SC_PIECES_REFERENCE_SIZE;
    return json_incref(value);
}

/* Reads an element of an array. Frames of stacks are such elements, and mostly have come before. */
static json_t *parse_element(struct parsing *parsing)
{
    int first = peek(parsing);
    if (parsing->is_packed && first == SC_PIECES_MARK)
        return parse_reference(parsing);
    bool may_be_piece = parsing->pieces && first == '{' && parsing->depth < PIECE_DEPTH_MAX;
    size_t length = may_be_piece ? length_of_piece(parsing) : 0;
    return length > 0 ? parse_piece(parsing, length) : parse_value(parsing);
}

/* Parses the elements of an array up to its ']'. False: they are not well-formed. */
static bool parse_elements(struct parsing *parsing, json_t *array)
{
    if (skip(parsing, ']'))
        return true;
    while (json_array_append_new(array, parse_element(parsing)) == 0) {
        if (skip(parsing, ']'))
            return true;
        if (!skip(parsing, ','))
            return false;
    }
    return false;
}

/* Parses an object or an array. NULL: it is not well-formed. */
static json_t *parse_nested(struct parsing *parsing, bool is_object)
{
    json_t *value = is_object ? json_object() : json_array();
    parsing->at++;
    if (value && (is_object ? parse_members : parse_elements)(parsing, value))
        return value;
    json_decref(value);
    return NULL;
}

/* Parses a value of any kind, as its first character says. */
static json_t *parse_any(struct parsing *parsing)
{
    int first = peek(parsing);
    switch (first) {
    case '"':
        return parse_string(parsing);
    case '{':
    case '[':
        return parse_nested(parsing, first == '{');
    case 't':
        return parse_word(parsing, "true", json_true());
    case 'f':
        return parse_word(parsing, "false", json_false());
    case 'n':
        return parse_word(parsing, "null", json_null());
    default:
        return parse_number(parsing);
    }
}

/* Reads a value of any type. It may be nested only so deep that the stack suffices. */
static json_t *parse_value(struct parsing *parsing)
{
    parsing->depth++;
    json_t *value = parsing->depth <= DEPTH_MAX ? parse_any(parsing) : NULL;
    parsing->depth--;
    return value;
}

/* Reads the whole text. Returns NULL if it is no JSON, or something stands after it. */
static json_t *parse_all(struct parsing *parsing)
{
    int first = peek(parsing);
    json_t *value = first == '{' || first == '[' ? parse_value(parsing) : NULL;
    if (value && peek(parsing) >= 0) {
        json_decref(value);
        value = NULL;
    }
    free(parsing->word);
    return value;
}

/* Parses JSON text. NULL: it is none. jansson's parser takes several times as long. */
json_t *sc_parse(const char *text, size_t size)
{
    return parse_all(&(struct parsing){.at = text, .end = text + size});
}

/* Parses a line of a report. Parts that many lines have (stacks) are parsed once and kept in
 * `pieces`. */
json_t *sc_parse_line(const char *text, size_t size, struct sc_pieces *pieces)
{
    pieces->place_count = pieces->place_asked = 0;
    return parse_all(&(struct parsing){.at = text, .end = text + size, .pieces = pieces});
}

/* Parses a line that was packed: its shared parts are references to values. */
json_t *sc_parse_packed(const char *text, size_t size)
{
    return parse_all(&(struct parsing){.at = text, .end = text + size, .is_packed = true});
}
