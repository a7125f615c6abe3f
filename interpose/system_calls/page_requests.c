/* mlock, mlock2 and madvise: the kernel touches pages, or takes them out of the page tables, where
 * some are guarded.
 *
 * - Pages that are to stay are let go: no touch by the program, and no hazard.
 * - MADV_POPULATE_READ, MADV_POPULATE_WRITE: nothing is lost, but guarded pages are in the way.
 * - MADV_DONTNEED, MADV_DONTNEED_LOCKED, MADV_PAGEOUT: pages that userfaultfd keeps off stay where
 *   they are. A system call would not find them otherwise.
 *
 * What is lost by an advice is libc/advice.h's.
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

static int lock_with_no_flags(const void *address, size_t size, unsigned flags)
{
    (void)flags;
    return SC_NEXT(mlock_function *, "mlock")(address, size);
}

/* The kernel brings the pages in, which it refuses for those that nobody may touch. Another thread
 * may guard them again meanwhile. */
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

SC_EXPORT int mlock(const void *address, size_t size)
{
    return lock_pages(lock_with_no_flags, address, size, 0);
}

SC_EXPORT int mlock2(const void *address, size_t size, unsigned flags)
{
    return lock_pages(SC_NEXT(mlock2_function *, "mlock2"), address, size, flags);
}

/* ---- madvise ---- */

/* Advice of kernels that may be newer than the headers. */
enum { PAGEOUT = 21, POPULATE_READ = 22, POPULATE_WRITE = 23, DONTNEED_LOCKED = 24 };

typedef int madvise_function(void *address, size_t size_bytes, int advice);

static int advise(void *address, size_t size_bytes, int advice)
{
    return SC_NEXT(madvise_function *, "madvise")(address, size_bytes, advice);
}

/* The kernel touches every page as the program would, and fails where the program would wait. What
 * is in the pages does not matter to anybody. */
static __attribute__((noinline)) int populate(void *address, size_t size_bytes, int advice)
{
    enum sc_touch touch = advice == POPULATE_READ ? SC_TOUCH_READ : SC_TOUCH_WRITE;
    struct sc_loans loans = {.frame = SC_FRAME()};
    if (!sc_losses_may_be_of_ours(address, size_bytes))
        return advise(address, size_bytes, advice);
    sc_loans_add(&loans, address, size_bytes, touch);
    sc_guard_unprotect(address, size_bytes);
    int result = advise(address, size_bytes, advice);
    sc_loans_end(&loans);
    return result;
}

/* As far as shared memory is concerned, of which nothing is lost by that. */
static bool takes_pages_out(int advice)
{
    return advice == MADV_DONTNEED || advice == DONTNEED_LOCKED || advice == PAGEOUT;
}

/* Whole pages of areas? */
static bool are_of_area(const void *address)
{
    uintptr_t start = (uintptr_t)address;
    return sc_unlikely(sc_areas_have(start)) && start % SC_SMALL_PAGE_BYTES == 0;
}

SC_EXPORT int madvise(void *address, size_t size_bytes, int advice)
{
    if (advice == POPULATE_READ || advice == POPULATE_WRITE)
        return populate(address, size_bytes, advice);
    bool takes_out = takes_pages_out(advice) && are_of_area(address);
    if (takes_out && sc_userfaults_have_adopted((uintptr_t)address, size_bytes))
        return 0;
    sc_advice_before(address, size_bytes, advice, &(struct sc_culprit){"madvise", SC_SITE(), NULL});
    int result = advise(address, size_bytes, advice);
    if (result == 0 && takes_out)
        sc_protect_restore(&(struct sc_pages){(uintptr_t)address, (uintptr_t)address + size_bytes});
    return result;
}
