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

/* Notes where the code of the driver and of the C library lies. */
void sc_driver_code_note(void)
{
    driver = sc_object_range_of((uintptr_t)sc_real.cuInit);
    /* A function of the C library that nothing of ours stands before. */
    c_library = sc_object_range_of((uintptr_t)gnu_get_libc_version);
    atomic_store_explicit(&is_noted, true, memory_order_release);
}

/* Notes where the code of CUPTI lies. */
void sc_driver_code_note_cupti(const void *function)
{
    if (atomic_load_explicit(&is_cupti_noted, memory_order_acquire))
        return;
    cupti = sc_object_range_of((uintptr_t)function);
    atomic_store_explicit(&is_cupti_noted, true, memory_order_release);
}

bool sc_driver_code_is_cupti(uintptr_t address)
{
    return atomic_load_explicit(&is_cupti_noted, memory_order_acquire) &&
           sc_object_range_holds(&cupti, address);
}

bool sc_driver_code_has(uintptr_t address)
{
    return atomic_load_explicit(&is_noted, memory_order_acquire) &&
           sc_object_range_holds(&driver, address);
}

void sc_driver_code_note_thread(void)
{
    is_drivers_thread = true;
}

/* Has the driver called this code, and not the program? */
bool sc_driver_code_has_called(uintptr_t pc, const void *context)
{
    ucontext_t here;
    if (is_drivers_thread || sc_driver_code_has(pc))
        return true;
    if (!context && getcontext(&here) != 0)
        return false;
    return sc_unwind_any_caller(context ? context : &here, sc_driver_code_has);
}

/* Does the driver's code run there, directly or in a function of the C library that it has called?
 */
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
