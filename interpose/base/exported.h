/* Finds what loaded objects export, by name and without the loader's look-up. A look-up by the
 * loader that fails allocates, and sets dlerror() for the program. Its dlvsym cannot be used
 * either, as it is hooked by us (interpose/entry/dlsym.c).
 *
 * Versions are not looked at. Nothing is allocated. Locks: none, and thread-safe. Async-signal-safe
 * but for the first call, which asks the loader where this object is.
 */
#ifndef SC_INTERPOSE_BASE_EXPORTED_H
#define SC_INTERPOSE_BASE_EXPORTED_H

#include <stdbool.h>
#include <stddef.h>

struct dl_phdr_info;

/* What this object exports by that name; NULL: nothing. */
void *sc_exported_by_us(const char *name);

/* What the first object behind this one in load order exports by that name. If none does, as with a
 * library that was opened late, what the nearest object before this one exports. NULL: nothing. */
void *sc_exported_by_another(const char *name);

/* The address of what the object exports by that name; NULL: nothing. `object` comes from
 * dl_iterate_phdr. *size_bytes: set to the symbol's size, 0 if it is not known. */
void *sc_exported_in(const struct dl_phdr_info *object, const char *name, size_t *size_bytes);

/* Are the names equal? Not by strcmp: a sanitizer asks dlsym for the functions that its own strcmp
 * needs. */
static inline bool sc_exported_is(const char *name, const char *other)
{
    while (*name && *name == *other) {
        name++;
        other++;
    }
    return *name == *other;
}

#endif
