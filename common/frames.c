#include "common/frames.h"

#include <signal.h>

#include "common/kernel.h"
#include "common/peek.h"

#include "common/poison.h"

enum { NEAR_BYTES = 32 * 1024, PAGE_BYTES = 4096 }; /* near: a wrapper, and what it calls */

/* The pages that were last found to be mapped between two of this thread's frames: a program calls
 * from much the same depth again and again. */
static __thread uintptr_t known_low, known_high;

static __thread struct sc_frame_detour current_detour;

/* Records that the thread runs on another stack from now on, and returns what was recorded before.
 * Checks of frames need it: which of two stacks lies above the other says nothing about which
 * frame is older. */
struct sc_frame_detour sc_frame_set_detour(struct sc_frame_detour detour)
{
    struct sc_frame_detour former = current_detour;
    current_detour = detour;
    return former;
}

/* Is the page with the address unmapped? It is tried by process_vm_readv, which raises no signal.
 * If that fails for our own stack as well, the system forbids the call, and no page counts as
 * unmapped. */
static bool is_unmapped(uintptr_t address)
{
    uintptr_t word = 0;
    uintptr_t own = 0;
    return !sc_peek(&word, address, sizeof word) && sc_peek(&word, (uintptr_t)&own, sizeof word);
}

/* Are all pages between the two mapped? If so they are remembered, joined with those remembered
 * before if they adjoin: a program calls from much the same depth again and again, and asking is
 * slow. */
static bool note_mapped(uintptr_t low, uintptr_t high)
{
    for (uintptr_t page = low; page < high; page += PAGE_BYTES)
        if (is_unmapped(page + PAGE_BYTES))
            return false;
    bool adjoins = low <= known_high && known_low <= high;
    known_low = adjoins && known_low < low ? known_low : low;
    known_high = adjoins && known_high > high ? known_high : high;
    return true;
}

/* Can the recorded frame be read directly? It must lie near above the running one, with all memory
 * between them mapped. Else it may be on another stack (a fiber's), which may be unmapped by
 * now. */
static bool check_near(uintptr_t here, uintptr_t place)
{
    uintptr_t low = here & ~(uintptr_t)(PAGE_BYTES - 1);
    uintptr_t high = place & ~(uintptr_t)(PAGE_BYTES - 1);
    return place - here < NEAR_BYTES &&
           (low == high || (low >= known_low && high <= known_high) || note_mapped(low, high));
}

/* Does the return address still lie in the frame? A function that was called later from the same
 * depth has overwritten it. Not instrumented by sanitizers, which do not allow to read another
 * function's frame. */
static __attribute__((no_sanitize("address", "thread"))) bool
is_there(const struct sc_frame *record)
{
    return *(const volatile uintptr_t *)record->place == record->caller;
}

#ifdef __aarch64__
/* Has the function returned, though its return address is still there? On AArch64 that address
 * lies at the low end of a frame, and later functions need not overwrite it. Each frame has the
 * address of the next one above, so the walk from the running frame either reaches the recorded
 * one (it runs), or goes past it. Code without frame pointers may have put anything into the
 * chain, so only a step that ends near above the recorded frame counts as past it. */
static __attribute__((no_sanitize("address", "thread"))) bool
is_passed(uintptr_t here, const struct sc_frame *record)
{
    uintptr_t frame = record->place - sizeof frame;
    while (here < frame) {
        uintptr_t next = *(const volatile uintptr_t *)here;
        if (next <= here || next % sizeof next != 0)
            return false;
        here = next;
    }
    return here != frame && here - frame < NEAR_BYTES;
}

/* Has the function with the recorded frame returned? One whose frame lies below the running frame
 * has, on the same stack. */
bool sc_frame_is_passed(const struct sc_frame *record)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return record->place < here || is_passed(here, record);
}
#else
/* Always false on x86-64: a call stores its return address at the top of its frame, where a later
 * call from the same depth overwrites it. */
static bool is_passed(uintptr_t here, const struct sc_frame *record)
{
    (void)here, (void)record;
    return false;
}

/* Always false here (see is_passed). */
bool sc_frame_is_passed(const struct sc_frame *record)
{
    return is_passed(0, record);
}
#endif

/* Does the return address still lie in the frame, on a stack that may be unmapped? It is read by
 * process_vm_readv. If the system forbids that, the record counts as valid. */
static bool may_be_there(const struct sc_frame *record)
{
    uintptr_t word;
    if (sc_peek(&word, record->place, sizeof word))
        return word == record->caller;
    return !is_unmapped(record->place);
}

/* Is the frame on another stack than the running one, though it lies below: does the thread run a
 * signal handler on its alternate stack, and is the frame not there? Frames below the running one
 * on its own stack have returned. Calls sigaltstack by a system call, since the function may be a
 * hook. */
static bool is_of_other_stack(const struct sc_frame *record)
{
    stack_t alternate = {0};
    bool known = sc_kernel_call(SYS_sigaltstack, NULL, &alternate) == 0;
    return known && (alternate.ss_flags & SS_ONSTACK) &&
           record->place - (uintptr_t)alternate.ss_sp >= alternate.ss_size;
}

/* Returns the address to compare the recorded frame with: where the thread is on that frame's
 * stack. While the thread runs on a spare stack of the library's, that is where it left its own
 * stack, except for frames of the spare stack itself. */
static uintptr_t here_for(const struct sc_frame *record, uintptr_t here)
{
    bool is_on_detour = record->place - here < current_detour.top - here;
    return current_detour.left && !is_on_detour ? current_detour.left : here;
}

/* Is the function whose frame was recorded still running? Near the running frame the stack itself
 * is read; a frame far away may be on another stack, which may be unmapped by now, so it is read
 * with care. */
bool sc_frame_lives(const struct sc_frame *record)
{
    uintptr_t here = here_for(record, (uintptr_t)__builtin_frame_address(0));
    if (__builtin_expect(check_near(here, record->place), 1))
        return is_there(record) && !is_passed(here, record);
    return may_be_there(record) && (record->place > here || is_of_other_stack(record));
}
