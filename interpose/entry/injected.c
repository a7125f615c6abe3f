#include "interpose/entry/injected.h"

#include <dlfcn.h>
#include <string.h>

#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/driver.h"
#include "interpose/missed/audit.h"
#include "report/options.h"

#include "common/poison.h"

/* The driver calls this within cuInit, and ignores the result. cuda.h does not declare it. */
SC_EXPORT int InitializeInjection(void);

/* Finds what the program itself would find by that name, without regard to the library's hook of
 * dlsym. The search may fail; dlerror() is cleared then, which the program has not caused. */
static void *find_for_program(const char *name)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    void *found = program ? sc_loader_symbol(program, name) : NULL;
    if (program)
        dlclose(program);
    dlerror();
    return found;
}

/* Is this copy of the library preloaded? Then the program finds its functions: cuInit, unless the
 * program has a stub of its own, and in any case InitializeInjection. A library that the driver has
 * loaded is not visible to the program. */
bool sc_is_preloaded(void)
{
    return find_for_program("cuInit") == (void *)cuInit ||
           find_for_program("InitializeInjection") == (void *)InitializeInjection;
}

/* Is another copy of the library preloaded, from another file? The injected one must not work
 * beside it. */
static bool find_preloaded_copy(void)
{
    Dl_info where;
    void *other = find_for_program("InitializeInjection");
    const char *name = other && dladdr(other, &where) ? where.dli_fname : NULL;
    const char *slash = name ? strrchr(name, '/') : NULL;
    return slash && strncmp(slash + 1, "libsafecopy", strlen("libsafecopy")) == 0;
}

/* Starts the library where CUDA_INJECTION64_PATH names it: the driver calls this within cuInit. A
 * preloaded library, this one or another copy, works already. Otherwise no hook of libc is called,
 * and calls are only seen when they are made: what needs more is switched off. 1: no error. */
int InitializeInjection(void)
{
    if (sc_is_preloaded() || find_preloaded_copy())
        return 1;
    sc_life_start();
    if (!sc_process_wants_wrappers() || !sc_driver_attach(NULL))
        return 1;
    sc_process_note_alone();
    sc_unwind_note_alone();
    /* These need hooks of libc, or work before the driver's call. */

    sc_options.guard = false;
    sc_options.snapshot_max_bytes = 0;
    sc_options.pinned = SC_PINNED_DRIVER;
    sc_options.capture = SC_CAPTURE_REPORT;
    sc_audit_start();
    return 1;
}
