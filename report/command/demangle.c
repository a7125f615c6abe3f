#define _GNU_SOURCE 1
#include "report/command/demangle.h"

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif
#include <stdbool.h>
#include <string.h>

/* A name of this length and more is nobody's: demangling it could take for ever. */
enum { SYMBOL_MAX = 64 * 1024 };

/* Old names of Rust are C++ names too, with a hash for a last part. */
static char *try_languages(const char *symbol)
{
    bool may_be_rust = symbol[1] == 'R' || strstr(symbol, "17h");
    char *readable = may_be_rust ? rust_demangle(symbol, DMGL_PARAMS) : NULL;
    return readable ? readable : cplus_demangle_v3(symbol, DMGL_PARAMS | DMGL_ANSI);
}

char *sc_demangle(const char *symbol)
{
    bool is_mangled = strncmp(symbol, "_Z", 2) == 0 || strncmp(symbol, "_R", 2) == 0;
    char *readable =
        is_mangled && strnlen(symbol, SYMBOL_MAX) < SYMBOL_MAX ? try_languages(symbol) : NULL;
    return readable ? readable : strdup(symbol);
}
