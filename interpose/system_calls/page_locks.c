/* mlock and mlock2: pages that are to stay. */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/guard/guard.h"
#include "interpose/system_calls/look.h"

#include "track/poison.h"

enum { LOCK_TRIES_MAX = 8 };

typedef int mlock_function(const void *address, size_t size);
typedef int mlock2_function(const void *address, size_t size, unsigned flags);

static int lock_with_no_flags(const void *address, size_t size, unsigned flags)
{
    (void)flags;
    return SC_NEXT(mlock_function *, "mlock")(address, size);
}

/* The kernel brings the pages in, which it refuses for those that nobody may touch: no touch by the
 * program, and no hazard. Another thread may guard them again meanwhile. */
static int lock_pages(mlock2_function *lock, const void *address, size_t size, unsigned flags)
{
    int result = -1;
    for (unsigned tries = 0; tries < LOCK_TRIES_MAX; tries++) {
        if (sc_look_is_needed())
            sc_guard_let_go(address, size);
        result = lock(address, size, flags);
        if (result == 0 || errno != ENOMEM || !sc_look_is_needed())
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
