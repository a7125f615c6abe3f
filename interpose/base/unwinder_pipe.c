#include "interpose/base/unwinder_pipe.h"

#include <errno.h>
#include <stdatomic.h>

#include "common/peek.h"
#include "interpose/base/object_range.h"

#include "common/poison.h"

/* The range of libunwind's code. Threads that note it at once find the same. */
static _Atomic uintptr_t start, end;

/* Notes which code is libunwind's: that of the object with this function. Calls of pipe, read and
 * write from there are then answered by the functions below. */
void sc_unwinder_pipe_note(const void *function)
{
    struct sc_object_range found = sc_object_range_of((uintptr_t)function);
    atomic_store_explicit(&start, found.start, memory_order_relaxed);
    atomic_store_explicit(&end, found.end, memory_order_release);
}

/* Does the call return to libunwind's code, so that it is one for its pipe? False until libunwind
 * is loaded. `end` is read first: once it is set, `start` is, too. */
bool sc_unwinder_pipe_is_for(const void *site)
{
    struct sc_object_range unwinder = {.end = atomic_load_explicit(&end, memory_order_acquire)};
    unwinder.start = atomic_load_explicit(&start, memory_order_relaxed);
    return unwinder.end && sc_object_range_holds(&unwinder, (uintptr_t)site);
}

/* Answers libunwind's call of pipe: both ends get a number that no descriptor can have. */
int sc_unwinder_pipe_open(int ends[2])
{
    ends[0] = ends[1] = SC_UNWINDER_PIPE;
    return 0;
}

/* Fails as a system call of libc does: returns -1 with this errno. */
static int fail_with(int error)
{
    errno = error;
    return -1;
}

/* Answers libunwind's read of its pipe, by which it empties that: the pipe is always empty. */
int sc_unwinder_pipe_read(void)
{
    return fail_with(EAGAIN);
}

/* Answers libunwind's write of a byte, by which it asks whether memory can be read: 1 if so, else
 * -1 with EFAULT. errno becomes 0 on success, since libunwind writes again as long as errno is
 * EINTR, whatever is returned. A signal handler may have left EINTR there (that of D's collector,
 * which stops threads). */
int sc_unwinder_pipe_write(const void *byte)
{
    char there;
    if (!sc_peek_anyhow(&there, (uintptr_t)byte, sizeof there))
        return fail_with(EFAULT);
    errno = 0;
    return 1;
}
