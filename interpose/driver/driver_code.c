#include "interpose/driver/driver_code.h"

#include <gnu/libc-version.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <ucontext.h>

#include "interpose/base/unwind.h"
#include "interpose/driver/driver.h"

#include "track/poison.h"

enum { CALLERS_MAX = 6 };

struct object {
    uintptr_t of; /* an address inside */
    uintptr_t start, end;
};

static struct object driver, c_library;
static _Atomic bool noted; /* both are constant from then on */

static __thread bool is_drivers_thread __attribute__((tls_model("initial-exec")));

static bool contains(const struct object *object, uintptr_t address)
{
    return address - object->start < object->end - object->start;
}

static int note_object(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct object *object = argument;
    struct object seen = {object->of, UINTPTR_MAX, 0};
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        if (start < seen.start)
            seen.start = start;
        if (start + segment->p_memsz > seen.end)
            seen.end = start + segment->p_memsz;
    }
    if (!contains(&seen, seen.of))
        return 0;
    *object = seen;
    return 1;
}

void sc_driver_code_note(void)
{
    driver.of = (uintptr_t)sc_real.cuInit;
    c_library.of = (uintptr_t)gnu_get_libc_version; /* which nothing of ours stands before */
    dl_iterate_phdr(note_object, &driver);
    dl_iterate_phdr(note_object, &c_library);
    atomic_store_explicit(&noted, true, memory_order_release);
}

bool sc_driver_code_holds(uintptr_t address)
{
    return atomic_load_explicit(&noted, memory_order_acquire) && contains(&driver, address);
}

void sc_driver_code_owns_thread(void)
{
    is_drivers_thread = true;
}

bool sc_driver_code_called(uintptr_t pc, const void *context)
{
    ucontext_t here;
    if (is_drivers_thread || sc_driver_code_holds(pc))
        return true;
    if (!context && getcontext(&here) != 0)
        return false;
    return sc_unwind_meets(context ? context : &here, sc_driver_code_holds);
}

bool sc_driver_code_runs(uintptr_t pc, const void *context)
{
    void *frames[CALLERS_MAX];
    if (!contains(&c_library, pc))
        return sc_driver_code_holds(pc);
    unsigned count = sc_unwind_frames(context, pc, frames, CALLERS_MAX);
    unsigned caller = 0;
    while (caller < count && contains(&c_library, (uintptr_t)frames[caller]))
        caller++;
    return caller < count && sc_driver_code_holds((uintptr_t)frames[caller]);
}
