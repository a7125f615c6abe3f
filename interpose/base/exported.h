/* What loaded objects export, by name, without the loader: its own look-ups that fail allocate and
 * are told to the program by dlerror(), and dlvsym is ours (interpose/entry/dlsym.c).
 *
 * Versions are not looked at. No allocation; async-signal-safe but for the first call, which asks
 * the loader where this object is.
 */
#ifndef SC_INTERPOSE_BASE_EXPORTED_H
#define SC_INTERPOSE_BASE_EXPORTED_H

#include <stdbool.h>

/* NULL: this object has none of that name. */
void *sc_exported_by_us(const char *name);

/* Of the first object behind this one in load order; where none has it, as for a library that was
 * opened late, of the last one before. */
void *sc_exported_by_another(const char *name);

/* A sanitizer asks dlsym for the functions that its strcmp needs. */
static inline bool sc_exported_is(const char *name, const char *other)
{
    while (*name && *name == *other) {
        name++;
        other++;
    }
    return *name == *other;
}

#endif
