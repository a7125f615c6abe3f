#include "interpose/driver/driver_code.h"

#include <gnu/libc-version.h>
#include <stdatomic.h>
#include <ucontext.h>

#include "interpose/base/object_range.h"
#include "interpose/base/unwind.h"
#include "interpose/driver/driver.h"

#include "common/poison.h"

enum { CALLERS_MAX = 6 };

static struct sc_object_range driver, c_library, cupti;
static _Atomic bool is_noted, is_cupti_noted; /* the ranges are constant once these are true */

static __thread bool is_drivers_thread __attribute__((tls_model("initial-exec")));

/* Notes where the code of the driver and of the C library lies, by a function of each. That of the
 * C library is one that the library does not hook. */
void sc_driver_code_note(void)
{
    driver = sc_object_range_of((uintptr_t)sc_real.cuInit);
    /* A function of the C library that nothing of ours stands before. */
    c_library = sc_object_range_of((uintptr_t)gnu_get_libc_version);
    atomic_store_explicit(&is_noted, true, memory_order_release);
}

/* Notes where the code of CUPTI lies: of the object with this function. Once, as it stays loaded.
 */
void sc_driver_code_note_cupti(const void *function)
{
    if (atomic_load_explicit(&is_cupti_noted, memory_order_acquire))
        return;
    cupti = sc_object_range_of((uintptr_t)function);
    atomic_store_explicit(&is_cupti_noted, true, memory_order_release);
}

/* Does the address lie in CUPTI's code? Threads that CUPTI starts are no threads of the program. */
bool sc_driver_code_is_cupti(uintptr_t address)
{
    return atomic_load_explicit(&is_cupti_noted, memory_order_acquire) &&
           sc_object_range_holds(&cupti, address);
}

/* Does the address lie in the driver's code? What the driver does with memory is no mistake of the
 * program, and must not be made to wait. */
bool sc_driver_code_has(uintptr_t address)
{
    return atomic_load_explicit(&is_noted, memory_order_acquire) &&
           sc_object_range_holds(&driver, address);
}

/* Notes that the driver has started the calling thread: all that runs on it, the driver has called.
 */
void sc_driver_code_note_thread(void)
{
    is_drivers_thread = true;
}

/* Has the driver called the code at `pc` (a host function), and not the program? True on the
 * driver's own threads; elsewhere if a function of the driver's is among the callers. Without a
 * `context` (of a signal) the walk begins here. */
bool sc_driver_code_has_called(uintptr_t pc, const void *context)
{
    ucontext_t here;
    if (is_drivers_thread || sc_driver_code_has(pc))
        return true;
    if (!context && getcontext(&here) != 0)
        return false;
    return sc_unwind_any_caller(context ? context : &here, sc_driver_code_has);
}

/* Does the driver's own code run at `pc`? The code may also be a function of the C library, as
 * memcpy: then its first caller outside that library decides. */
bool sc_driver_code_runs(uintptr_t pc, const void *context)
{
    void *frames[CALLERS_MAX];
    if (!sc_object_range_holds(&c_library, pc))
        return sc_driver_code_has(pc);
    unsigned count = sc_unwind_frames(context, pc, frames, CALLERS_MAX);
    unsigned caller = 0;
    while (caller < count && sc_object_range_holds(&c_library, (uintptr_t)frames[caller]))
        caller++;
    return caller < count && sc_driver_code_has((uintptr_t)frames[caller]);
}
