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

struct sc_frame_detour sc_frame_set_detour(struct sc_frame_detour detour)
{
    struct sc_frame_detour former = current_detour;
    current_detour = detour;
    return former;
}

/* Is the page with the address unmapped? Tries to read it by process_vm_readv. If that is
 * forbidden, no page counts as unmapped. */
static bool is_unmapped(uintptr_t address)
{
    uintptr_t word = 0;
    uintptr_t own = 0;
    return !sc_peek(&word, address, sizeof word) && sc_peek(&word, (uintptr_t)&own, sizeof word);
}

/* Are all pages between the two mapped? If so, stores that. */
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

/* Does the place lie near above the running frame, and is all memory between them mapped? Usually
 * it is on the thread's stack, but it may be on another stack that was unmapped since the frame was
 * recorded. */
static bool check_near(uintptr_t here, uintptr_t place)
{
    uintptr_t low = here & ~(uintptr_t)(PAGE_BYTES - 1);
    uintptr_t high = place & ~(uintptr_t)(PAGE_BYTES - 1);
    return place - here < NEAR_BYTES &&
           (low == high || (low >= known_low && high <= known_high) || note_mapped(low, high));
}

/* Does the return address still lie in the frame? Not instrumented by sanitizers: they do not know
 * that another function's frame is read. */
static __attribute__((no_sanitize("address", "thread"))) bool
is_there(const struct sc_frame *record)
{
    return *(const volatile uintptr_t *)record->place == record->caller;
}

#ifdef __aarch64__
/* Has the function returned? Each frame stores the address of the next one above it, so from the
 * running frame upwards the walk reaches the recorded frame, or goes past it. Code without frame
 * pointers may have put anything into the chain. So only a step that ends near above the recorded
 * frame counts as past it. */
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

bool sc_frame_is_passed(const struct sc_frame *record)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return record->place < here || is_passed(here, record);
}
#else
static bool is_passed(uintptr_t here, const struct sc_frame *record)
{
    (void)here, (void)record;
    return false;
}

bool sc_frame_is_passed(const struct sc_frame *record)
{
    return is_passed(0, record);
}
#endif

/* Does the return address still lie in the frame, on a stack that may be unmapped? Reads it by
 * process_vm_readv. If that is forbidden, the record counts as valid. */
static bool may_be_there(const struct sc_frame *record)
{
    uintptr_t word;
    if (sc_peek(&word, record->place, sizeof word))
        return word == record->caller;
    return !is_unmapped(record->place);
}

/* Is the frame, which lies below the running one, on another stack that the running one has
 * interrupted? Calls sigaltstack by a system call, since the function may be a hook, of this
 * library or of others. */
static bool is_of_other_stack(const struct sc_frame *record)
{
    stack_t alternate = {0};
    bool known = sc_kernel_call(SYS_sigaltstack, NULL, &alternate) == 0;
    return known && (alternate.ss_flags & SS_ONSTACK) &&
           record->place - (uintptr_t)alternate.ss_sp >= alternate.ss_size;
}

/* Returns the address with which the record is compared: where the thread is on the recorded
 * frame's stack. A stack of the library's may lie above the thread's stack or below. */
static uintptr_t here_for(const struct sc_frame *record, uintptr_t here)
{
    bool is_on_detour = record->place - here < current_detour.top - here;
    return current_detour.left && !is_on_detour ? current_detour.left : here;
}

/* Is the function with this frame still running? A frame far away may be on another stack, which
 * may be unmapped by now, so it is read with care. */
bool sc_frame_lives(const struct sc_frame *record)
{
    uintptr_t here = here_for(record, (uintptr_t)__builtin_frame_address(0));
    if (__builtin_expect(check_near(here, record->place), 1))
        return is_there(record) && !is_passed(here, record);
    return may_be_there(record) && (record->place > here || is_of_other_stack(record));
}
