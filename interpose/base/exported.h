/* Finds symbols that loaded objects export, by name, without the loader. A failed look-up by the
 * loader allocates, and sets dlerror() for the program. Its dlvsym cannot be used either, as the
 * library hooks it (interpose/entry/dlsym.c).
 *
 * Symbol versions are ignored. Nothing is allocated. No lock; thread-safe. Async-signal-safe except
 * for the first call, which finds this library by the loader. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#ifndef SC_INTERPOSE_BASE_EXPORTED_H
#define SC_INTERPOSE_BASE_EXPORTED_H

#include <stdbool.h>
#include <stddef.h>

struct dl_phdr_info;

/* Returns the address of what this library exports by that name; NULL: nothing. With it dlsym and
 * the like return the library's function for a name that the library hooks. */
void *sc_exported_by_us(const char *name);

/* Returns what the first object after this library in load order exports by that name. If none
 * does, as with a library that was opened late, what the nearest object before it exports. NULL:
 * none does. It finds the real dlvsym, which the loader would not return. */
void *sc_exported_by_another(const char *name);

/* Returns the address of what the object exports by that name; NULL: nothing. `object` comes from
 * dl_iterate_phdr. *size_bytes: set to the symbol's size, 0 if unknown. */
void *sc_exported_in(const struct dl_phdr_info *object, const char *name, size_t *size_bytes);

/* Are the names equal? Does not call strcmp: a sanitizer calls dlsym to find the functions that its
 * strcmp needs. */
static inline bool sc_exported_is(const char *name, const char *other)
{
    while (*name && *name == *other) {
        name++;
        other++;
    }
    return *name == *other;
}

#endif
