/* munmap, mremap, mprotect, mseal, and mmap over memory in flight.
 *
 * A mapping that goes away under a copy stays until the copy is complete; one that must move,
 * shrink or be replaced waits. Access that is taken away hurts what the driver itself reads and
 * writes for the device, pageable memory; of registered memory the device has the pages. The
 * driver's own unmapping passes through while we are inside of it.
 */
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
#include "interpose/reaper/take_down.h"
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

#define NEXT(name) SC_NEXT(name##_function *, #name)

/* The call; and once more, where it has failed for want of mappings that the guard had. */
#define WITH_ROOM(call)                                                                            \
    ({                                                                                             \
        __typeof__(call) result_ = (call);                                                         \
        (intptr_t) result_ == -1 && sc_guard_makes_room() ? (call) : result_;                      \
    })

/* Nothing is in flight, guarded or known before CUDA is used, with mode=off, and in a forked child.
 */
static bool is_no_concern(void)
{
    return sc_unlikely(!sc_active()) && !sc_guard_has(NULL, SIZE_MAX);
}

/* ---- munmap ---- */

static bool unmap_is_deferred(void *address, size_t size_bytes, const struct sc_culprit *culprit)
{
    SC_TAKE_DOWN request = {
        .address = (uintptr_t)address,
        .size_bytes = size_bytes,
        .hold = true,
        .kind = SC_HOLD_UNMAP,
        .settles = true,
    };
    return sc_take_down_make(&request, SC104, culprit);
}

bool sc_mmap_unmap(void *address, size_t size_bytes, void *site)
{
    if (is_no_concern())
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
    return WITH_ROOM(NEXT(munmap)(address, size_bytes));
}

/* ---- mremap ---- */

struct remapping {
    char *address, *target;      /* the target means something with MREMAP_FIXED only */
    size_t old_bytes, new_bytes; /* whole pages; of 0 old bytes the pages are mapped once more */
    int flags;
};

static bool is_valid(const struct remapping *remapping)
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

static void lose(void *address, size_t size_bytes, const struct sc_culprit *culprit)
{
    if (size_bytes && sc_losses_may_matter(address, size_bytes))
        sc_losses_settle(address, size_bytes, culprit);
    sc_losses_leave_alone(address, size_bytes, SC_SNAPSHOTS_NONE);
}

/* Whether a mapping that grows has to move is for the kernel to say, and nothing that a program can
 * know: one that may move counts as moved. One that grows where it is must be a single mapping, and
 * pages that we protect part it. */
static void before_mremap(const struct remapping *remapping, const struct sc_culprit *culprit)
{
    char *address = remapping->address;
    size_t old_bytes = remapping->old_bytes;
    size_t new_bytes = remapping->new_bytes;
    bool moves = (remapping->flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) ||
                 (new_bytes > old_bytes && (remapping->flags & MREMAP_MAYMOVE));
    if (moves)
        lose(address, old_bytes, culprit);
    else if (new_bytes < old_bytes)
        lose(address + new_bytes, old_bytes - new_bytes, culprit);
    else if (new_bytes > old_bytes)
        sc_losses_leave_alone(address, old_bytes, SC_SNAPSHOTS_PLAIN);
    if (remapping->flags & MREMAP_FIXED)
        lose(remapping->target, new_bytes, culprit);
}

void sc_mmap_remap(void *address, size_t old_bytes, size_t new_bytes, int flags, void *target,
                   void *site)
{
    if (is_no_concern())
        return;
    struct remapping remapping = {address, target, sc_losses_whole_pages(old_bytes),
                                  sc_losses_whole_pages(new_bytes), flags};
    if (is_valid(&remapping))
        before_mremap(&remapping, &(struct sc_culprit){"mremap", site, NULL});
}

SC_EXPORT void *mremap(void *address, size_t old_bytes, size_t new_bytes, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    void *target = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    sc_mmap_remap(address, old_bytes, new_bytes, flags, target, SC_SITE());
    return WITH_ROOM(NEXT(mremap)(address, old_bytes, new_bytes, flags, target));
}

/* ---- mmap ---- */

void sc_mmap_map(void *address, size_t size_bytes, int flags, void *site)
{
    if (is_no_concern())
        return;
    size_t whole = sc_losses_whole_pages(size_bytes);
    if (!(flags & MAP_FIXED) || (flags & MAP_FIXED_NOREPLACE) == MAP_FIXED_NOREPLACE ||
        whole == 0 || !sc_losses_are_pages(address, whole))
        return;
    lose(address, whole, &(struct sc_culprit){"mmap", site, NULL});
}

static void *map(void *address, size_t size_bytes, int protection, int flags, int fd,
                 off64_t offset, void *site)
{
    sc_mmap_map(address, size_bytes, flags, site);
    return WITH_ROOM(NEXT(mmap)(address, size_bytes, protection, flags, fd, offset));
}

SC_EXPORT void *mmap(void *address, size_t size_bytes, int protection, int flags, int fd,
                     off_t offset)
{
    return map(address, size_bytes, protection, flags, fd, offset, SC_SITE());
}

SC_EXPORT void *mmap64(void *address, size_t size_bytes, int protection, int flags, int fd,
                       off64_t offset)
{
    return map(address, size_bytes, protection, flags, fd, offset, SC_SITE());
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

/* A page that may be written may be read. */
void sc_mmap_protect(const char *api, void *address, size_t size_bytes, int protection, void *site)
{
    if (is_no_concern())
        return;
    size_t whole = sc_losses_whole_pages(size_bytes);
    if (whole == 0 || !sc_losses_are_pages(address, whole))
        return;
    if (!(protection & PROT_WRITE) && sc_losses_may_matter(address, whole))
        sc_losses_settle_some(address, whole,
                              protection & PROT_READ ? is_written_pageable : is_pageable,
                              &(struct sc_culprit){api, site, NULL});
    sc_losses_leave_alone(address, whole, SC_SNAPSHOTS_PEEKED);
}

/* What is sealed has the access that it has for good. */
void sc_mmap_seal(void *address, size_t size_bytes)
{
    size_t whole = sc_losses_whole_pages(size_bytes);
    if (whole && sc_losses_are_pages(address, whole))
        sc_losses_leave_alone(address, whole, SC_SNAPSHOTS_PLAIN);
}

SC_EXPORT int mprotect(void *address, size_t size_bytes, int protection)
{
    sc_mmap_protect("mprotect", address, size_bytes, protection, SC_SITE());
    return WITH_ROOM(NEXT(mprotect)(address, size_bytes, protection));
}

SC_EXPORT int pkey_mprotect(void *address, size_t size_bytes, int protection, int key)
{
    sc_mmap_protect("pkey_mprotect", address, size_bytes, protection, SC_SITE());
    return WITH_ROOM(NEXT(pkey_mprotect)(address, size_bytes, protection, key));
}
