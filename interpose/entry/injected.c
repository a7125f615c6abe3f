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

/* As cuda.h has no word of it: the driver calls it inside cuInit, and nobody uses the result. */
SC_EXPORT int InitializeInjection(void);

static void *of_program(const char *name)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    void *found = program ? sc_loader_symbol(program, name) : NULL;
    if (program)
        dlclose(program);
    dlerror();
    return found;
}

/* Preloaded, its functions are the program's, cuInit at least where the program has no stub of it;
 * injected, the program cannot see it. */
bool sc_is_preloaded(void)
{
    return of_program("cuInit") == (void *)cuInit ||
           of_program("InitializeInjection") == (void *)InitializeInjection;
}

/* From another file. */
static bool is_copy_preloaded(void)
{
    Dl_info where;
    void *other = of_program("InitializeInjection");
    const char *name = other && dladdr(other, &where) ? where.dli_fname : NULL;
    const char *slash = name ? strrchr(name, '/') : NULL;
    return slash && strncmp(slash + 1, "libsafecopy", strlen("libsafecopy")) == 0;
}

int InitializeInjection(void)
{
    if (sc_is_preloaded() || is_copy_preloaded())
        return 1;
    sc_life_start();
    if (!sc_process_wants_wrappers() || !sc_driver_attach(NULL))
        return 1;
    sc_process_note_alone();
    sc_unwind_note_alone();
    /* What takes hooks of libc's, or has to come before the driver's call. */
    sc_options.guard = false;
    sc_options.snapshot_max_bytes = 0;
    sc_options.pinned = SC_PINNED_DRIVER;
    sc_options.capture = SC_CAPTURE_REPORT;
    sc_audit_start();
    return 1;
}
