#include "interpose/unwind.h"

#include <dlfcn.h>
#include <string.h>
#include <ucontext.h>

#include "interpose/loader.h"
#include "interpose/process.h"
#include "interpose/seen_stacks.h"
#include "report/report.h"
#include "report/text.h"
#include "track/stacks.h"

#include "track/poison.h"

/* As libunwind.h declares them; its header is not needed to build, nor is it for every target. */
typedef int backtrace_function(void **buffer, int size);
typedef int init_function(void *cursor, const void *context, int flags);
typedef int step_function(void *cursor);
typedef int get_register_function(void *cursor, int number, uintptr_t *value);

#if defined(__x86_64__)
#define LIBUNWIND_NAME(name) "_ULx86_64_" name
enum { REGISTER_IP = 16, REGISTER_SP = 7 };
#elif defined(__aarch64__)
#define LIBUNWIND_NAME(name) "_ULaarch64_" name
enum { REGISTER_IP = 32, REGISTER_SP = 31 };
#else
#error "how does libunwind name its functions and the program counter on this machine?"
#endif

enum { OWN_FRAMES_MAX = 16, SIGNAL_FRAME = 1, CURSOR_BYTES = 8192 };

static backtrace_function *take_backtrace;
static init_function *init_cursor;
static step_function *step_out;
static get_register_function *get_register;
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
    if (take_backtrace) {
        init_cursor = (init_function *)sc_loader_symbol(library, LIBUNWIND_NAME("init_local2"));
        step_out = (step_function *)sc_loader_symbol(library, LIBUNWIND_NAME("step"));
        get_register =
            (get_register_function *)sc_loader_symbol(library, LIBUNWIND_NAME("get_reg"));
    } else {
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

unsigned sc_unwind_frames(const void *context, uintptr_t pc, void **frames, unsigned max)
{
    _Alignas(16) char cursor[CURSOR_BYTES];
    unsigned count = 1;
    frames[0] = (void *)pc;
    if (!init_cursor || !step_out || !get_register ||
        init_cursor(cursor, context, SIGNAL_FRAME) != 0)
        return count;
    while (count < max && step_out(cursor) > 0) {
        uintptr_t ip = 0;
        if (get_register(cursor, REGISTER_IP, &ip) != 0 || ip == 0)
            break;
        frames[count++] = (void *)ip;
    }
    return count;
}

uint32_t sc_unwind_from(const void *context, uintptr_t pc)
{
    void *frames[SC_STACK_DEPTH_MAX];
    if (stacks_mode == SC_STACKS_NONE)
        return 0;
    unsigned max = stacks_mode == SC_STACKS_FULL ? SC_STACK_DEPTH_MAX : 1;
    unsigned count = sc_unwind_frames(context, pc, frames, max);
    frames[0] = (void *)(pc + 1); /* readers look before a frame's address, where its call is */
    return sc_stacks_put(frames, count);
}

/* On x86-64 the return address lies right below the caller's stack pointer. Elsewhere it is in a
 * register at first, and where it is saved is for the compiler to say. */
void sc_unwind_frame_of(uintptr_t address, uintptr_t *slot, uintptr_t *return_address)
{
    *slot = *return_address = 0;
#if defined(__x86_64__)
    _Alignas(16) char cursor[CURSOR_BYTES];
    ucontext_t context;
    uintptr_t stack_pointer = 0;
    if (!init_cursor || !step_out || !get_register || getcontext(&context) != 0 ||
        init_cursor(cursor, &context, 0) != 0)
        return;
    for (unsigned depth = 0; depth < SC_STACK_DEPTH_MAX && step_out(cursor) > 0; depth++) {
        uintptr_t ip = 0;
        if (get_register(cursor, REGISTER_SP, &stack_pointer) != 0 ||
            get_register(cursor, REGISTER_IP, &ip) != 0)
            return;
        if (address < stack_pointer) {
            *slot = stack_pointer - sizeof(uintptr_t);
            *return_address = ip;
            return;
        }
    }
#else
    (void)address;
#endif
}
