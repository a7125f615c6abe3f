#include "track/frames.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "track/peek.h"

#include "track/poison.h"

/* Between a wrapper and what it leads to. So near above the running frame the stack is its own. */
enum { NEAR_BYTES = 32 * 1024, FAR_BYTES = 512 * 1024, PAGE_BYTES = 4096 };

/* Of this thread's stacks, a piece in which every page can be read: a program calls from much the
 * same depth again and again, and CUPTI's callbacks lie far below the wrappers that lead to them.
 */
static __thread uintptr_t known_low, known_high;

static bool is_readable(uintptr_t low, uintptr_t high)
{
    uintptr_t word;
    for (uintptr_t at = low; at < high; at += PAGE_BYTES)
        if (!sc_peek(&word, at, sizeof word))
            return false;
    return true;
}

static void know(uintptr_t low, uintptr_t high)
{
    if (high - low > FAR_BYTES || !is_readable(low, high))
        return;
    bool overlaps = low <= known_high && known_low <= high;
    known_low = overlaps && known_low < low ? known_low : low;
    known_high = overlaps && known_high > high ? known_high : high;
}

static bool is_known(uintptr_t here, uintptr_t place)
{
    return here >= known_low && place <= known_high && place > here;
}

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
    if (__builtin_expect(mark->place - here < NEAR_BYTES || is_known(here, mark->place), 1))
        return is_there(mark);
    if (!may_be_there(mark))
        return false;
    if (mark->place < here)
        return is_of_other_stack(mark);
    know(here, mark->place);
    return true;
}
