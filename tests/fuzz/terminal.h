/* What a terminal may be sent, said once more and otherwise than in report/plain.c: libc decodes.
 */
#ifndef SC_TESTS_FUZZ_TERMINAL_H
#define SC_TESTS_FUZZ_TERMINAL_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>

static void terminal_take_character(char32_t c, const char *kept)
{
    static const char32_t turning[] =
        U"\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
        U"\u2066\u2067\u2068\u2069";
    for (size_t i = 0; turning[i] != 0; i++) {
        if (c == turning[i])
            abort();
    }
    if ((c < 0x20 && (c == 0 || !strchr(kept, (int)c))) || (c >= 0x7f && c <= 0x9f))
        abort();
}

static bool terminal_is_plain(char byte)
{
    return byte >= 0x20 && byte < 0x7f;
}

/* Aborts unless the bytes are UTF-8 without a character that does harm. Most of a page are plain
 * ones, and to have libc decode each took half of a fuzzer's time. */
static void terminal_take(const char *bytes, size_t count, const char *kept)
{
    mbstate_t state;
    memset(&state, 0, sizeof state);
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        abort();
    for (size_t i = 0; i < count;) {
        char32_t c;
        if (terminal_is_plain(bytes[i])) {
            i++;
            continue;
        }
        size_t length = mbrtoc32(&c, bytes + i, count - i, &state);
        if (length == 0 || length > 4)
            abort();
        terminal_take_character(c, kept);
        i += length;
    }
}

/* What is said on stderr from `listen` to `judge` is taken. One at a time. */
static struct {
    FILE *usual;
    char *said;
    size_t size;
} terminal;

static inline void terminal_listen(void)
{
    terminal.usual = stderr;
    stderr = open_memstream(&terminal.said, &terminal.size);
    if (!stderr)
        abort();
}

static inline void terminal_judge(void)
{
    fclose(stderr);
    stderr = terminal.usual;
    terminal_take(terminal.said, terminal.size, "\n");
    free(terminal.said);
}

#endif
