/* Keeps pages off the guard on which the program has objects that the kernel may touch at any time,
 * without a call of the program: a mutex that others sleep on, a buffer that glibc's own threads
 * read into.
 *
 * glibc aborts the process when the kernel finds a futex inaccessible. So pages on which such an
 * object was seen are kept off: not guarded any more (track/kept_off.h), as long as their range
 * lasts. An object is seen when it is passed to a hooked function that may sleep or wake on it. If
 * the set of such pages has no room for an object's, its whole range is not guarded any more.
 *
 * A thread that keeps a page off stores that first, and then looks at what is guarded. The guard
 * records what it is about to protect first, and then looks at what is kept off. So one of the two
 * sees the other, as with loans (interpose/guard/loans.h).
 *
 * Thread safe and signal safe; errno is kept; no cancellation point. Locks: the guard's and the
 * tracker's where a page is seen for the first time, and none otherwise. */
#ifndef SC_INTERPOSE_SYSTEM_CALLS_KEEP_OFF_H
#define SC_INTERPOSE_SYSTEM_CALLS_KEEP_OFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "track/track_presence.h"
#include "track/track_views.h"

/* Is there any memory that could be guarded? One load. */
static inline bool sc_keep_off_may_be_needed(void)
{
    return sc_unlikely(sc_track_has_any(&sc_track, SC_HAS_RANGES));
}

/* The objects (mutexes and the like) that the calling thread used lately and that lie on no page of
 * a range, so that they need no look-up. An entry is valid for one version of the ranges.
 * Frameworks and the runtime take the same few locks thousands of times between two copies, and
 * some of these lie near a range. */
enum { SC_FAR_OBJECTS = 16, SC_FAR_OBJECT_BYTES = 64 };

extern __thread struct sc_far_object {
    uintptr_t address;
    uint64_t version;
} sc_far_objects[SC_FAR_OBJECTS] __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The entry for the object. */
static inline struct sc_far_object *sc_keep_off_far_place(const void *object)
{
    return &sc_far_objects[(uintptr_t)object / sizeof(int) % SC_FAR_OBJECTS];
}

/* The version of the ranges; odd while they change. */
static inline uint64_t sc_keep_off_version(void)
{
    return sc_track_ranges_version(&sc_track);
}

/* Was the object found to lie on no page of a range, and has no range been made since? For objects
 * of at most SC_FAR_OBJECT_BYTES. Three loads. */
static inline bool sc_keep_off_is_known_far(const void *object)
{
    const struct sc_far_object *far = sc_keep_off_far_place(object);
    return far->address == (uintptr_t)object && far->version == sc_keep_off_version();
}

/* Remembers that the object lies on no page of a range. `version` of the ranges was loaded before
 * they were looked at. */
void sc_keep_off_note_far(const void *object, uint64_t version);

/* Keeps the object's pages off, as the kernel may touch the object at any time from now on. */
void sc_keep_off_always(const void *object, size_t size_bytes);

/* Unprotects the object's page once, since the kernel is about to touch it, and it is not known how
 * far. */
void sc_keep_off_once(const void *object);

#endif
