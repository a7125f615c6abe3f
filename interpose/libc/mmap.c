/* Hooks of munmap, mremap, mprotect, mseal, and mmap, for memory in flight.
 *
 * A mapping that is unmapped under a copy stays until the copy is complete. A call that moves,
 * shrinks or replaces a mapping waits. To remove access matters for pageable memory, which the
 * driver itself reads and writes for the device; of registered memory the device has the pages.
 * Unmapping by the driver within a call of the library passes through. */
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/hazard_words.h"
#include "common/op_kinds.h"
#include "common/pages.h"
#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/base/mappings.h"
#include "interpose/base/process.h"
#include "interpose/guard/door.h"
#include "interpose/libc/mmap.h"
#include "interpose/losses/losses.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/deallocation.h"
#include "track/hold_kind.h"
#include "track/op_info.h"
#include "track/track_holds.h"

#include "common/poison.h"

/* Newer than glibc 2.31's headers. */
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

typedef int munmap_function(void *address, size_t size_bytes);
typedef int mprotect_function(void *address, size_t size_bytes, int protection);
typedef int pkey_mprotect_function(void *address, size_t size_bytes, int protection, int key);
typedef void *mremap_function(void *address, size_t old_bytes, size_t new_bytes, int flags, ...);
typedef void *mmap_function(void *address, size_t size_bytes, int protection, int flags, int fd,
                            off_t offset);

#define REAL(name) SC_NEXT(name##_function *, #name)

/* Makes the call, and repeats it once if it has failed because the process has no mappings left,
 * and the guard could free some, which its protected pages cost. */
#define WITH_ROOM(call)                                                                            \
    ({                                                                                             \
        __typeof__(call) result_ = (call);                                                         \
        (intptr_t) result_ == -1 && sc_guard_makes_room() ? (call) : result_;                      \
    })

/* Have these hooks nothing to do but pass the call on: before CUDA is used, with mode=off, and in a
 * forked child, once no page is guarded? */
static bool is_idle(void)
{
    return sc_unlikely(!sc_active()) && !sc_guard_has(NULL, SIZE_MAX);
}

/* ---- munmap ---- */

/* Reports operations in flight on pages that are about to be unmapped (SC104), and in mode=fix
 * defers the call until they are complete. True: it is deferred, and the library's thread makes it
 * (the reaper). */
static bool unmap_is_deferred(void *address, size_t size_bytes, const struct sc_culprit *culprit)
{
    SC_DEALLOCATION request = {
        .address = (uintptr_t)address,
        .size_bytes = size_bytes,
        .hold = true,
        .kind = SC_HOLD_UNMAP,
        .settles = true,
    };
    return sc_deallocation_handle(&request, SC104, culprit);
}

/* Called before munmap. Reports operations in flight there, and in mode=fix defers the call. True:
 * it must not be made now, and counts as successful. False: it is made, and memory that the driver
 * knows is no longer guarded there, nor read by the library to copy a source: other pages may lie
 * there next. Does nothing if Linux will refuse the call. */
bool sc_mmap_unmap(void *address, size_t size_bytes, void *site)
{
    if (is_idle())
        return false;
    size_t whole = sc_losses_whole_pages(size_bytes);
    if (whole == 0 || !sc_losses_are_pages(address, whole))
        return false;
    sc_mappings_forget((uintptr_t)address, whole);
    bool may_be_of_range = sc_losses_limit_snapshots(address, whole, SC_SNAPSHOTS_NONE);
    if (sc_losses_may_matter(address, whole) &&
        unmap_is_deferred(address, whole, &(struct sc_culprit){"munmap", site, NULL}))
        return true;
    if (may_be_of_range)
        sc_losses_forbid_guarding(address, whole);
    return false;
}

/* The hook of munmap. The call counts as successful if it is made later, by the library. */
SC_EXPORT int munmap(void *address, size_t size_bytes)
{
    if (sc_mmap_unmap(address, size_bytes, SC_SITE()))
        return 0;
    return WITH_ROOM(REAL(munmap)(address, size_bytes));
}

/* Does what must be done before memory is replaced by what the program maps there. */
static void replace(const void *address, size_t size_bytes, const struct sc_culprit *culprit)
{
    if (sc_losses_settle(address, size_bytes, culprit))
        sc_losses_note_mapped(address, size_bytes);
}

/* ---- mremap ---- */

/* The arguments of an mremap. */
struct remapping {
    char *address, *target;      /* `target` is used with MREMAP_FIXED only */
    size_t old_bytes, new_bytes; /* whole pages; 0 old bytes: the pages are mapped a second time */
    int flags;
};

/* Would Linux accept this mremap? If not, it changes nothing, and nothing need be waited for. */
static bool check_remap(const struct remapping *remapping)
{
    const int known = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
    int flags = remapping->flags;
    const char *end = remapping->address + remapping->old_bytes;
    const char *target_end = remapping->target + remapping->new_bytes;
    if ((flags & ~known) || (flags != 0 && !(flags & MREMAP_MAYMOVE)) ||
        ((flags & MREMAP_DONTUNMAP) && remapping->old_bytes != remapping->new_bytes))
        return false;
    if (remapping->new_bytes == 0 || !sc_losses_are_pages(remapping->address, remapping->old_bytes))
        return false;
    return !(flags & MREMAP_FIXED) ||
           (sc_losses_are_pages(remapping->target, remapping->new_bytes) &&
            (remapping->target >= end || target_end <= remapping->address));
}

/* Reports and waits for operations in memory that mremap is about to take away: all of it if it may
 * move (whether a growing mapping moves is Linux's choice), its end if it shrinks, and what lies at
 * a fixed target. If it grows in place it must be a single mapping for Linux, and protected pages
 * would split it: so nothing there is guarded any more. */
static void before_mremap(const struct remapping *remapping, const struct sc_culprit *culprit)
{
    char *address = remapping->address;
    size_t old_bytes = remapping->old_bytes;
    size_t new_bytes = remapping->new_bytes;
    bool moves = (remapping->flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) ||
                 (new_bytes > old_bytes && (remapping->flags & MREMAP_MAYMOVE));
    if (moves)
        sc_losses_settle(address, old_bytes, culprit);
    else if (new_bytes < old_bytes)
        sc_losses_settle(address + new_bytes, old_bytes - new_bytes, culprit);
    else if (new_bytes > old_bytes)
        sc_losses_stop_watching(address, old_bytes, SC_SNAPSHOTS_PLAIN);
    if (remapping->flags & MREMAP_FIXED)
        replace(remapping->target, new_bytes, culprit);
}

/* Called before mremap, by which pages at the old and at the new address may go: reports and waits
 * for operations there. Does nothing if Linux will refuse the call. */
void sc_mmap_remap(void *address, size_t old_bytes, size_t new_bytes, int flags, void *target,
                   void *site)
{
    if (is_idle())
        return;
    struct remapping remapping = {address, target, sc_losses_whole_pages(old_bytes),
                                  sc_losses_whole_pages(new_bytes), flags};
    if (check_remap(&remapping))
        before_mremap(&remapping, &(struct sc_culprit){"mremap", site, NULL});
}

/* The hook of mremap, which reports and waits before the call. `target` is passed with two flags.
 */
SC_EXPORT void *mremap(void *address, size_t old_bytes, size_t new_bytes, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    void *target = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    sc_mmap_remap(address, old_bytes, new_bytes, flags, target, SC_SITE());
    return WITH_ROOM(REAL(mremap)(address, old_bytes, new_bytes, flags, target));
}

/* ---- mmap ---- */

/* Called before mmap. At a fixed address (MAP_FIXED) that replaces what lies there, so operations
 * in flight there are reported and waited for. MAP_FIXED_NOREPLACE replaces nothing. */
void sc_mmap_map(void *address, size_t size_bytes, int flags, void *site)
{
    if (is_idle())
        return;
    size_t whole = sc_losses_whole_pages(size_bytes);
    if (!(flags & MAP_FIXED) || (flags & MAP_FIXED_NOREPLACE) == MAP_FIXED_NOREPLACE ||
        whole == 0 || !sc_losses_are_pages(address, whole))
        return;
    replace(address, whole, &(struct sc_culprit){"mmap", site, NULL});
}

/* What the hooks of mmap and mmap64 do, whose arguments are the same on 64-bit machines. */
static void *map_as_hook(void *address, size_t size_bytes, int protection, int flags, int fd,
                         off64_t offset, void *site)
{
    sc_mmap_map(address, size_bytes, flags, site);
    return WITH_ROOM(REAL(mmap)(address, size_bytes, protection, flags, fd, offset));
}

/* The hook of mmap, which may replace memory in flight (MAP_FIXED). */
SC_EXPORT void *mmap(void *address, size_t size_bytes, int protection, int flags, int fd,
                     off_t offset)
{
    return map_as_hook(address, size_bytes, protection, flags, fd, offset, SC_SITE());
}

/* The hook of mmap64, mmap's name for large files. */
SC_EXPORT void *mmap64(void *address, size_t size_bytes, int protection, int flags, int fd,
                       off64_t offset)
{
    return map_as_hook(address, size_bytes, protection, flags, fd, offset, SC_SITE());
}

/* ---- mprotect ---- */

/* Does the operation use pageable memory? The driver itself reads or writes that, and would fail
 * without access; of registered memory the device has the pages. */
static bool is_pageable(const struct sc_op_info *op)
{
    return op->kind == SC_PAGEABLE;
}

/* Does the operation write pageable memory, so that it would fail on read-only pages? */
static bool is_written_pageable(const struct sc_op_info *op)
{
    return op->kind == SC_PAGEABLE && sc_direction_writes_host(op->direction);
}

/* Called before mprotect or pkey_mprotect (`api`): reports and waits for operations that the change
 * would harm. Removing access harms copies of pageable memory: without PROT_READ all of them,
 * without PROT_WRITE those that write. (A writable page is readable, too.) Then ends the guard
 * there, which would change the access again; the library reads sources there by a system call from
 * now on, since the program may have no access. */
void sc_mmap_protect(const char *api, void *address, size_t size_bytes, int protection, void *site)
{
    if (is_idle())
        return;
    size_t whole = sc_losses_whole_pages(size_bytes);
    if (whole == 0 || !sc_losses_are_pages(address, whole))
        return;
    if (!(protection & PROT_WRITE) && sc_losses_may_matter(address, whole))
        sc_losses_report_and_wait(address, whole,
                                  protection & PROT_READ ? is_written_pageable : is_pageable,
                                  &(struct sc_culprit){api, site, NULL});
    sc_losses_stop_watching(address, whole, SC_SNAPSHOTS_PEEKED);
}

/* Called before mseal: unprotects the pages and ends their guarding. A sealed mapping keeps its
 * access for good, so no page of it may be protected then. */
void sc_mmap_seal(void *address, size_t size_bytes)
{
    size_t whole = sc_losses_whole_pages(size_bytes);
    if (whole && sc_losses_are_pages(address, whole))
        sc_losses_stop_watching(address, whole, SC_SNAPSHOTS_PLAIN);
}

/* The hook of mprotect, which may take away access that a copy needs. */
SC_EXPORT int mprotect(void *address, size_t size_bytes, int protection)
{
    sc_mmap_protect("mprotect", address, size_bytes, protection, SC_SITE());
    return WITH_ROOM(REAL(mprotect)(address, size_bytes, protection));
}

/* The hook of pkey_mprotect, which may take away access that a copy needs. */
SC_EXPORT int pkey_mprotect(void *address, size_t size_bytes, int protection, int key)
{
    sc_mmap_protect("pkey_mprotect", address, size_bytes, protection, SC_SITE());
    return WITH_ROOM(REAL(pkey_mprotect)(address, size_bytes, protection, key));
}
