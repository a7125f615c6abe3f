#include "interpose/unwind.h"

#include <dlfcn.h>
#include <string.h>

#include "interpose/loader.h"
#include "interpose/process.h"
#include "interpose/seen_stacks.h"
#include "report/report.h"
#include "report/text.h"
#include "track/stacks.h"

#include "track/poison.h"

/* As libunwind.h declares it; its header is not needed to build, nor is it for every target. */
typedef int backtrace_function(void **buffer, int size);

enum { OWN_FRAMES_MAX = 8 };

static backtrace_function *take_backtrace;
static int stacks_mode = SC_STACKS_SITE;

static void *open_beside_us(const char *file)
{
    char path[SC_OPTIONS_PATH_SIZE];
    Dl_info own;
    if (!dladdr((void *)sc_unwind_start, &own) || !own.dli_fname)
        return NULL;
    const char *slash = strrchr(own.dli_fname, '/');
    size_t folder = slash ? (size_t)(slash - own.dli_fname) + 1 : 0;
    if (folder + strlen(file) >= sizeof path)
        return NULL;
    memcpy(path, own.dli_fname, folder);
    strcpy(path + folder, file);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void sc_unwind_start(const struct sc_options *options)
{
    stacks_mode = options->stacks;
    if (stacks_mode != SC_STACKS_FULL)
        return;
    void *library = open_beside_us("libunwind.so.8");
    if (!library)
        library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (library)
        take_backtrace = (backtrace_function *)sc_loader_symbol(library, "unw_backtrace");
    if (!take_backtrace) {
        stacks_mode = SC_STACKS_SITE;
        if (options->verbosity >= 1)
            sc_report_say(NULL, "libunwind.so.8 not found beside libsafecopy.so nor in the system: "
                                "stacks show the calling frame only");
    }
    dlerror();
}

/* The innermost frames are ours, up to the one that is about to return to `site`. */
static unsigned own_frames(void *const *frames, unsigned count, const void *site)
{
    for (unsigned i = 0; i < count && i < OWN_FRAMES_MAX; i++)
        if (frames[i] == site)
            return i;
    return 0;
}

static __attribute__((noinline)) uint32_t unwind(void *site, uintptr_t depth)
{
    void *frames[SC_STACK_DEPTH_MAX + OWN_FRAMES_MAX];
    int count = take_backtrace(frames, SC_STACK_DEPTH_MAX + OWN_FRAMES_MAX);
    if (count <= 0)
        return sc_stacks_put(&site, 1);
    unsigned own = own_frames(frames, (unsigned)count, site);
    uint32_t id = sc_stacks_put(frames + own, (unsigned)count - own);
    sc_seen_stacks_learn(site, depth, id, frames + own, (unsigned)count - own);
    return id;
}

__attribute__((noinline)) uint32_t sc_unwind_here(void *site)
{
    uintptr_t depth = (uintptr_t)__builtin_frame_address(0);
    if (stacks_mode == SC_STACKS_NONE)
        return 0;
    if (stacks_mode == SC_STACKS_SITE)
        return sc_stacks_put(&site, 1);
    uint32_t id = sc_seen_stacks_find(site, depth);
    return id ? id : unwind(site, depth);
}
