#include "report/plain.h"

#include <string.h>

#include "common/text.h"

#include "common/poison.h"

/* Returns the length of the UTF-8 character at `bytes`, or 0 if it is none. Each row of RFC 3629's
 * table has the range of the first byte, and that of the second, by which overlong forms,
 * surrogates and what is past U+10FFFF are no characters. `count` bytes are there. */
static size_t character_length(const unsigned char *bytes, size_t count)
{
    static const struct {
        unsigned char first, last, second_first, second_last;
        size_t length;
    } rows[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        if (bytes[0] < rows[r].first || bytes[0] > rows[r].last || rows[r].length > count)
            continue;
        if (rows[r].length > 1 &&
            (bytes[1] < rows[r].second_first || bytes[1] > rows[r].second_last))
            return 0;
        for (size_t i = 2; i < rows[r].length; i++) {
            if ((bytes[i] & 0xc0) != 0x80)
                return 0;
        }
        return rows[r].length;
    }
    return 0;
}

/* Reads one UTF-8 character: returns its length in bytes and stores its number; 0: it is none. */
size_t sc_plain_character(const char *bytes, size_t count, uint32_t *code)
{
    static const unsigned char bits_of_first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *at = (const unsigned char *)bytes;
    size_t length = character_length(at, count);
    *code = length > 0 ? at[0] & bits_of_first[length] : 0;
    for (size_t i = 1; i < length; i++)
        *code = *code << 6 | (at[i] & 0x3f);
    return length;
}

/* May the character be written to a terminal? Not if it can move the cursor, hide text or reverse
 * its direction. */
bool sc_plain_is_harmless(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } harmful[] = {
        {0x0000, 0x001f},   /* C0 */
        {0x007f, 0x009f},   /* DEL, C1 */
        {0x061c, 0x061c},   /* the Arabic letter mark */
        {0x115f, 0x1160},   /* Hangul's fillers */
        {0x200b, 0x200b},   /* a blank without width */
        {0x200e, 0x200f},   /* marks of direction */
        {0x2028, 0x2029},   /* the separators */
        {0x202a, 0x202e},   /* embeddings and overrides */
        {0x2060, 0x206f},   /* joiners and operators that are not seen, isolates, old controls */
        {0xfeff, 0xfeff},   /* the mark of the order of bytes */
        {0xfff9, 0xfffb},   /* annotations between lines */
        {0x1d173, 0x1d17a}, /* beams, ties and slurs of music begin and end */
    };
    for (size_t i = 0; i < sizeof harmful / sizeof harmful[0]; i++) {
        if (code >= harmful[i].first && code <= harmful[i].last)
            return false;
    }
    return true;
}

/* Appends the last `count` hexadecimal digits of the value. */
static void put_digits(struct sc_text *text, uint32_t value, unsigned count)
{
    while (count-- > 0)
        sc_text_char(text, "0123456789abcdef"[value >> 4 * count & 15]);
}

/* Appends a character as \uXXXX; one beyond U+FFFF as two surrogates, as JSON does. */
void sc_plain_put_code(struct sc_text *text, uint32_t code)
{
    if (code > 0xffff) {
        sc_plain_put_code(text, 0xd800 + ((code - 0x10000) >> 10));
        code = 0xdc00 + ((code - 0x10000) & 0x3ff);
    }
    sc_text_put(text, "\\u");
    put_digits(text, code, 4);
}

/* Appends a byte that is no part of a character as \xNN. */
void sc_plain_put_byte(struct sc_text *text, unsigned char byte)
{
    sc_text_put(text, "\\x");
    put_digits(text, byte, 2);
}

/* Appends text from outside so that a terminal can show it. A text that does not fit is cut
 * between characters, and never inside a \uXXXX. */
void sc_plain_put(struct sc_text *text, const char *bytes, size_t count)
{
    size_t length;
    for (size_t i = 0; i<count; i += length> 0 ? length : 1) {
        uint32_t code;
        size_t before = text->used;
        length = sc_plain_character(bytes + i, count - i, &code);
        if (length == 0)
            sc_plain_put_byte(text, (unsigned char)bytes[i]);
        else if (sc_plain_is_harmless(code))
            sc_text_bytes(text, bytes + i, length);
        else
            sc_plain_put_code(text, code);
        if (text->cut) {
            sc_text_rewind(text, before);
            text->cut = true;
            return;
        }
    }
}
