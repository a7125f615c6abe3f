/* What loaded objects export, found by name without the loader. A look-up of the loader's that
 * fails allocates, and dlerror() tells the program of it; and dlvsym is ours
 * (interpose/entry/dlsym.c).
 *
 * Versions are not looked at. Nothing is allocated. Locks: none, and thread-safe. Async-signal-safe
 * but for the first call, which asks the loader where this object is.
 */
#ifndef SC_INTERPOSE_BASE_EXPORTED_H
#define SC_INTERPOSE_BASE_EXPORTED_H

#include <stdbool.h>
#include <stddef.h>

struct dl_phdr_info;

/* NULL: this object has none of that name. */
void *sc_exported_by_us(const char *name);

/* What the first object behind this one in load order has of that name. Where none has it, as for a
 * library that was opened late, what the last object before this one has. */
void *sc_exported_by_another(const char *name);

/* What one object has of that name, as dl_iterate_phdr tells of the object. Leaves the size of what
 * is found in *size_bytes, 0 where it is not known. */
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
