#include "track/frames.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "track/peek.h"

#include "track/poison.h"

/* Between a wrapper and what it leads to. So near above the running frame the stack is its own. */
enum { NEAR_BYTES = 32 * 1024 };

/* The words are another function's frame, of which no compiler and no sanitizer knows that we look.
 */
static __attribute__((no_sanitize("address", "thread"))) bool is_there(const struct sc_frame *mark)
{
    return *(const volatile uintptr_t *)mark->place == mark->caller;
}

/* The kernel reads a stack that may be gone; where it may not, the mark is believed. */
static bool may_be_there(const struct sc_frame *mark)
{
    uintptr_t word;
    return !sc_peek(&word, mark->place, sizeof word) || word == mark->caller;
}

/* Is the frame, which lies below the running one, of a stack that this one interrupted? The kernel
 * itself is asked, since ours is not the only sigaltstack. */
static bool is_of_other_stack(const struct sc_frame *mark)
{
    stack_t alternate = {0};
    int saved = errno;
    bool known = syscall(SYS_sigaltstack, NULL, &alternate) == 0;
    errno = saved;
    return known && (alternate.ss_flags & SS_ONSTACK) &&
           mark->place - (uintptr_t)alternate.ss_sp >= alternate.ss_size;
}

bool sc_frame_lives(const struct sc_frame *mark)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (__builtin_expect(mark->place - here < NEAR_BYTES, 1))
        return is_there(mark);
    return may_be_there(mark) && (mark->place > here || is_of_other_stack(mark));
}
