#define _GNU_SOURCE 1
#include "report/command/demangle.h"

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A name of this length and more is nobody's. */
enum { SYMBOL_MAX = 64 * 1024, READABLE_MAX = 16 * 1024 };

/* A symbol of 200 bytes may say a thousand million, as each part may name the one before it twice.
 * Once the text is full, libiberty is left where it is: it has nothing on the heap then, but for
 * the letters of a name in Rust that are not ASCII. */
struct readable {
    jmp_buf full;
    size_t length;
    char text[READABLE_MAX];
};

/* Takes a part of the readable name; jumps out if the whole gets too long. */
static void append(const char *text, size_t length, void *whom)
{
    struct readable *readable = whom;
    if (length >= READABLE_MAX - readable->length)
        longjmp(readable->full, 1);
    memcpy(readable->text + readable->length, text, length);
    readable->length += length;
}

/* Makes the symbol readable as one of Rust or C++. Returns false if it is neither, or its name gets
 * too long. Old names of Rust are C++ names too, with a hash for a last part. */
static bool try_languages(const char *symbol, struct readable *readable)
{
    bool may_be_rust = symbol[1] == 'R' || strstr(symbol, "17h");
    if (setjmp(readable->full) != 0)
        return false;
    if (may_be_rust && rust_demangle_callback(symbol, DMGL_PARAMS, append, readable))
        return true;
    readable->length = 0;
    return cplus_demangle_v3_callback(symbol, DMGL_PARAMS | DMGL_ANSI, append, readable);
}

/* Returns the readable name of a C++ or Rust symbol, or the symbol itself. The caller frees it. */
char *sc_demangle(const char *symbol)
{
    struct readable readable; /* its text is large, and need not be zero */
    bool is_mangled = strncmp(symbol, "_Z", 2) == 0 || strncmp(symbol, "_R", 2) == 0;
    readable.length = 0;
    if (is_mangled && strnlen(symbol, SYMBOL_MAX) < SYMBOL_MAX && try_languages(symbol, &readable))
        return strndup(readable.text, readable.length);
    return strdup(symbol);
}
