/* Hooks of mlock, mlock2 and madvise, by which Linux touches pages, or removes them from the page
 * tables, where some are guarded.
 *
 * - mlock, mlock2: the pages are unprotected before, since Linux touches them. That is no touch by
 *   the program, and no hazard.
 * - MADV_POPULATE_READ, MADV_POPULATE_WRITE: the pages are unprotected before, and on loan
 *   meanwhile.
 * - MADV_DONTNEED, MADV_DONTNEED_LOCKED, MADV_PAGEOUT: not called on memory that is registered with
 *   userfaultfd. It is shared, so nothing would be lost, but a later system call on a page that is
 *   not in the page tables would fail.
 *
 * What is lost by an advice is handled in libc/advice.h. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   hook: our function in the place of one of the C library's
 *   loan: memory that a system call uses, unprotected until the call returns
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "common/frames.h"
#include "common/pages.h"
#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/guard/door.h"
#include "interpose/guard/loans.h"
#include "interpose/guard/protect.h"
#include "interpose/guard/userfaults.h"
#include "interpose/libc/advice.h"
#include "interpose/losses/losses.h"
#include "interpose/memory/areas.h"
#include "interpose/memory/huge_pages.h"
#include "interpose/system_calls/prefault.h"

#include "common/poison.h"

/* ---- mlock ---- */

enum { LOCK_TRIES_MAX = 8 };

typedef int mlock_function(const void *address, size_t size);
typedef int mlock2_function(const void *address, size_t size, unsigned flags);

/* Calls the C library's mlock, with the parameters of mlock2. */
static int lock_with_no_flags(const void *address, size_t size, unsigned flags)
{
    (void)flags;
    return SC_NEXT(mlock_function *, "mlock")(address, size);
}

/* Calls `lock`, mlock or mlock2. Linux maps the pages for that, which fails with ENOMEM for
 * inaccessible ones. So they are unprotected before. Another thread may protect them again
 * meanwhile, so a call that has failed is repeated, LOCK_TRIES_MAX times at most. */
static int lock_pages(mlock2_function *lock, const void *address, size_t size, unsigned flags)
{
    int result = -1;
    for (unsigned tries = 0; tries < LOCK_TRIES_MAX; tries++) {
        if (sc_prefault_is_needed())
            sc_guard_unprotect(address, size);
        result = lock(address, size, flags);
        if (result == 0 || errno != ENOMEM || !sc_prefault_is_needed())
            break;
    }
    return result;
}

/* The hook of mlock, which would fail where pages are protected. */
SC_EXPORT int mlock(const void *address, size_t size)
{
    return lock_pages(lock_with_no_flags, address, size, 0);
}

/* The hook of mlock2, which would fail where pages are protected. */
SC_EXPORT int mlock2(const void *address, size_t size, unsigned flags)
{
    return lock_pages(SC_NEXT(mlock2_function *, "mlock2"), address, size, flags);
}

/* ---- madvise ---- */

/* Advice of kernels that may be newer than the headers. */
enum { PAGEOUT = 21, POPULATE_READ = 22, POPULATE_WRITE = 23, DONTNEED_LOCKED = 24 };

typedef int madvise_function(void *address, size_t size_bytes, int advice);

/* Calls the C library's madvise. */
static int call_madvise(void *address, size_t size_bytes, int advice)
{
    return SC_NEXT(madvise_function *, "madvise")(address, size_bytes, advice);
}

/* Calls madvise with an advice that populates pages. Linux touches each, and fails at a protected
 * one. So they are unprotected before, without a report, as their contents do not matter, and kept
 * so until the call returns (a loan). */
static __attribute__((noinline)) int populate(void *address, size_t size_bytes, int advice)
{
    enum sc_touch touch = advice == POPULATE_READ ? SC_TOUCH_READ : SC_TOUCH_WRITE;
    struct sc_loans loans = {.frame = SC_FRAME()};
    if (!sc_losses_may_be_of_ours(address, size_bytes))
        return call_madvise(address, size_bytes, advice);
    sc_loans_add(&loans, address, size_bytes, touch);
    sc_guard_unprotect(address, size_bytes);
    int result = call_madvise(address, size_bytes, advice);
    sc_loans_end(&loans);
    return result;
}

/* Does the advice remove pages from the page tables? The library's pinned memory, which is shared,
 * keeps its contents then. */
static bool removes_pages(int advice)
{
    return advice == MADV_DONTNEED || advice == DONTNEED_LOCKED || advice == PAGEOUT;
}

/* Does the address lie in an area (the library's pinned memory, interpose/memory/areas.h), at a
 * page's start? At other addresses madvise fails. */
static bool are_pages_of_area(const void *address)
{
    uintptr_t start = (uintptr_t)address;
    return sc_unlikely(sc_areas_have(start)) && start % SC_SMALL_PAGE_BYTES == 0;
}

/* The hook of madvise. An advice that removes pages is not given for memory that is registered with
 * userfaultfd: a later system call on a missing page would fail. If only a part is registered, the
 * advice is given, and that part mapped again. For other memory sc_advice_before waits for or
 * reports what the advice would take from operations in flight. */
SC_EXPORT int madvise(void *address, size_t size_bytes, int advice)
{
    if (advice == POPULATE_READ || advice == POPULATE_WRITE)
        return populate(address, size_bytes, advice);
    bool removes = removes_pages(advice) && are_pages_of_area(address);
    if (removes && sc_userfaults_have_adopted((uintptr_t)address, size_bytes))
        return 0;
    sc_advice_before(address, size_bytes, advice, &(struct sc_culprit){"madvise", SC_SITE(), NULL});
    int result = call_madvise(address, size_bytes, advice);
    if (result == 0 && removes)
        sc_protect_restore(&(struct sc_pages){(uintptr_t)address, (uintptr_t)address + size_bytes});
    return result;
}
