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

/* Makes the call, and repeats it if it failed because the process has no mappings left, and the
 * guard could free some. */
#define WITH_ROOM(call)                                                                            \
    ({                                                                                             \
        __typeof__(call) result_ = (call);                                                         \
        (intptr_t) result_ == -1 && sc_guard_makes_room() ? (call) : result_;                      \
    })

/* Is there nothing to do? So it is before CUDA is used, with mode=off, and in a forked child, where
 * nothing is in flight, guarded or known. */
static bool is_idle(void)
{
    return sc_unlikely(!sc_active()) && !sc_guard_has(NULL, SIZE_MAX);
}

/* ---- munmap ---- */

/* Reports what is in flight on pages that are about to be unmapped. True: the reaper will unmap
 * them. */
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

/* Called before munmap. True: the call must not be made now, and counts as successful. */
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

SC_EXPORT int munmap(void *address, size_t size_bytes)
{
    if (sc_mmap_unmap(address, size_bytes, SC_SITE()))
        return 0;
    return WITH_ROOM(REAL(munmap)(address, size_bytes));
}

/* ---- mremap ---- */

struct remapping {
    char *address, *target;      /* `target` is used with MREMAP_FIXED only */
    size_t old_bytes, new_bytes; /* whole pages; 0 old bytes: the pages are mapped a second time */
    int flags;
};

/* Would Linux accept the call? */
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

/* Does what must happen before mremap. Whether a growing mapping moves is Linux's choice, so one
 * that may move counts as moved. Linux grows a mapping in place only if it is a single one, and
 * protected pages would split it. */
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
        sc_losses_settle(remapping->target, new_bytes, culprit);
}

/* Called before mremap, which may remove pages at the old and at the new address. */
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

/* Called before mmap at a fixed address, which replaces what lies there. */
void sc_mmap_map(void *address, size_t size_bytes, int flags, void *site)
{
    if (is_idle())
        return;
    size_t whole = sc_losses_whole_pages(size_bytes);
    if (!(flags & MAP_FIXED) || (flags & MAP_FIXED_NOREPLACE) == MAP_FIXED_NOREPLACE ||
        whole == 0 || !sc_losses_are_pages(address, whole))
        return;
    sc_losses_settle(address, whole, &(struct sc_culprit){"mmap", site, NULL});
}

static void *map_as_hook(void *address, size_t size_bytes, int protection, int flags, int fd,
                         off64_t offset, void *site)
{
    sc_mmap_map(address, size_bytes, flags, site);
    return WITH_ROOM(REAL(mmap)(address, size_bytes, protection, flags, fd, offset));
}

SC_EXPORT void *mmap(void *address, size_t size_bytes, int protection, int flags, int fd,
                     off_t offset)
{
    return map_as_hook(address, size_bytes, protection, flags, fd, offset, SC_SITE());
}

SC_EXPORT void *mmap64(void *address, size_t size_bytes, int protection, int flags, int fd,
                       off64_t offset)
{
    return map_as_hook(address, size_bytes, protection, flags, fd, offset, SC_SITE());
}

/* ---- mprotect ---- */

static bool is_pageable(const struct sc_op_info *op)
{
    return op->kind == SC_PAGEABLE;
}

static bool is_written_pageable(const struct sc_op_info *op)
{
    return op->kind == SC_PAGEABLE && sc_direction_writes_host(op->direction);
}

/* Called before mprotect: reports and waits for operations that the change would harm. Removing
 * access harms copies of pageable memory: without PROT_READ all of them, without PROT_WRITE those
 * that write. A writable page is readable, too. */
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

SC_EXPORT int mprotect(void *address, size_t size_bytes, int protection)
{
    sc_mmap_protect("mprotect", address, size_bytes, protection, SC_SITE());
    return WITH_ROOM(REAL(mprotect)(address, size_bytes, protection));
}

SC_EXPORT int pkey_mprotect(void *address, size_t size_bytes, int protection, int key)
{
    sc_mmap_protect("pkey_mprotect", address, size_bytes, protection, SC_SITE());
    return WITH_ROOM(REAL(pkey_mprotect)(address, size_bytes, protection, key));
}
