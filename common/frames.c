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

/* Is the page with the address unmapped? The kernel is asked to read it. If the kernel refuses to
 * read anything for us, nothing counts as unmapped. */
static bool is_unmapped(uintptr_t address)
{
    uintptr_t word = 0;
    uintptr_t own = 0;
    return !sc_peek(&word, address, sizeof word) && sc_peek(&word, (uintptr_t)&own, sizeof word);
}

/* Are all pages between the two mapped? Then notes that. */
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

/* Does the place lie near above the running frame, and is all between them mapped? It is mostly the
 * thread's own stack, but may be another stack that was unmapped since its function left the note.
 */
static bool is_near(uintptr_t here, uintptr_t place)
{
    uintptr_t low = here & ~(uintptr_t)(PAGE_BYTES - 1);
    uintptr_t high = place & ~(uintptr_t)(PAGE_BYTES - 1);
    return place - here < NEAR_BYTES &&
           (low == high || (low >= known_low && high <= known_high) || note_mapped(low, high));
}

/* Is the return address still in its place? Sanitizers are told not to look: they do not know that
 * another function's frame is read. */
static __attribute__((no_sanitize("address", "thread"))) bool is_there(const struct sc_frame *note)
{
    return *(const volatile uintptr_t *)note->place == note->caller;
}

#ifdef __aarch64__
/* Was the note's frame passed? Each frame names the next one above it, so from the running frame
 * upwards one comes to the note's frame, or past it. Code that keeps no frames may have put
 * anything into the chain. So only a step that ends near above the note's frame counts as past it.
 */
static __attribute__((no_sanitize("address", "thread"))) bool is_passed(uintptr_t here,
                                                                        const struct sc_frame *note)
{
    uintptr_t frame = note->place - sizeof frame;
    while (here < frame) {
        uintptr_t next = *(const volatile uintptr_t *)here;
        if (next <= here || next % sizeof next != 0)
            return false;
        here = next;
    }
    return here != frame && here - frame < NEAR_BYTES;
}

bool sc_frame_is_passed(const struct sc_frame *note)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return note->place < here || is_passed(here, note);
}
#else
static bool is_passed(uintptr_t here, const struct sc_frame *note)
{
    (void)here, (void)note;
    return false;
}

bool sc_frame_is_passed(const struct sc_frame *note)
{
    return is_passed(0, note);
}
#endif

/* Is the return address still in its place, on a stack that may be unmapped? The kernel reads it.
 * If the kernel refuses, the note is believed. */
static bool may_be_there(const struct sc_frame *note)
{
    uintptr_t word;
    if (sc_peek(&word, note->place, sizeof word))
        return word == note->caller;
    return !is_unmapped(note->place);
}

/* Is the frame, which lies below the running one, on another stack that the running one has
 * interrupted? The kernel is asked directly, since sigaltstack() may be a hook, of ours or of
 * others. */
static bool is_of_other_stack(const struct sc_frame *note)
{
    stack_t alternate = {0};
    bool known = sc_kernel_call(SYS_sigaltstack, NULL, &alternate) == 0;
    return known && (alternate.ss_flags & SS_ONSTACK) &&
           note->place - (uintptr_t)alternate.ss_sp >= alternate.ss_size;
}

/* The address from which to look at the note: where the thread is on the note's stack. A stack of
 * the library's may lie above the thread's own or below. */
static uintptr_t here_for(const struct sc_frame *note, uintptr_t here)
{
    bool is_on_detour = note->place - here < current_detour.top - here;
    return current_detour.left && !is_on_detour ? current_detour.left : here;
}

bool sc_frame_lives(const struct sc_frame *note)
{
    uintptr_t here = here_for(note, (uintptr_t)__builtin_frame_address(0));
    if (__builtin_expect(is_near(here, note->place), 1))
        return is_there(note) && !is_passed(here, note);
    return may_be_there(note) && (note->place > here || is_of_other_stack(note));
}
