#include "interpose/driver_code.h"

#include <link.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "interpose/driver.h"
#include "interpose/unwind.h"

#include "track/poison.h"

enum { CALLERS_MAX = 6 };

/* Zero until noted: contains nothing. */
struct object {
    uintptr_t of; /* an address inside */
    uintptr_t start, end;
};

static struct object driver, c_library;

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
    c_library.of = (uintptr_t)memmove;
    dl_iterate_phdr(note_object, &driver);
    dl_iterate_phdr(note_object, &c_library);
}

static bool is_driver(uintptr_t address)
{
    return contains(&driver, address);
}

bool sc_driver_code_called(uintptr_t pc, const void *context)
{
    ucontext_t here;
    if (!context && getcontext(&here) != 0)
        return false;
    return is_driver(pc) || sc_unwind_meets(context ? context : &here, is_driver);
}

bool sc_driver_code_runs(uintptr_t pc, const void *context)
{
    void *frames[CALLERS_MAX];
    if (!contains(&c_library, pc))
        return contains(&driver, pc);
    unsigned count = sc_unwind_frames(context, pc, frames, CALLERS_MAX);
    unsigned caller = 0;
    while (caller < count && contains(&c_library, (uintptr_t)frames[caller]))
        caller++;
    return caller < count && contains(&driver, (uintptr_t)frames[caller]);
}
