/* The hook of sigaltstack. Linux may write to an alternate stack at any time, so its pages are not
 * guarded. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hook: our function in the place of one of the C library's
 */

#include <errno.h>
#include <signal.h>

#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/base/thread_stack.h"
#include "interpose/guard/door.h"
#include "track/track_views.h"

#include "common/poison.h"

typedef int sigaltstack_function(const stack_t *stack, stack_t *old);

/* The hook of sigaltstack. `stack` and `old` are copied if they may lie on a protected page, where
 * the system call would fail. The new alternate stack is recorded and its pages unprotected: Linux
 * writes to it when a signal comes, and could not on a protected page. */
SC_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
    stack_t asked;
    stack_t former;
    if (stack && sc_unlikely(sc_track_range_may_be_near(&sc_track, stack))) {
        asked = *stack;
        stack = &asked;
    }
    stack_t *into = old && sc_unlikely(sc_track_range_may_be_near(&sc_track, old)) ? &former : old;
    int result = SC_NEXT(sigaltstack_function *, "sigaltstack")(stack, into);
    if (result == 0 && into != old)
        *old = former;
    if (result == 0 && stack) {
        int saved = errno;
        sc_thread_stack_note_alternate(stack);
        if (!(stack->ss_flags & SS_DISABLE))
            sc_guard_unprotect(stack->ss_sp, stack->ss_size);
        errno = saved;
    }
    return result;
}
