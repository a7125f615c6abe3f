#include "interpose/base/unwind.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "common/mutex.h"
#include "common/objects.h"
#include "common/uncancelled.h"
#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/base/python_stacks.h"
#include "interpose/base/sanitizers.h"
#include "interpose/base/spare_stack.h"
#include "interpose/base/stack_cache.h"
#include "interpose/base/thread_stack.h"
#include "interpose/base/unwind_library.h"
#include "interpose/base/unwinder_pipe.h"
#include "report/options.h"
#include "report/report.h"
#include "track/origins.h"
#include "track/stacks.h"

#include "common/poison.h"

/* The functions of libunwind, as libunwind.h declares them. That header does not exist for every
 * target, so it is not included. */
typedef int backtrace_function(void **buffer, int size);
typedef int init_function(void *cursor, const void *context, int flags);
typedef int step_function(void *cursor);
typedef int get_register_function(void *cursor, int number, uintptr_t *value);
/* The beginning of unw_proc_info_t, which has some ten words in all. */
struct procedure_info {
    uintptr_t start, end;
    uintptr_t rest[30];
};
typedef int get_procedure_function(void *cursor, struct procedure_info *info);
typedef void flush_function(void *space, uintptr_t from, uintptr_t to);

#if defined(__x86_64__)
#define LIBUNWIND_NAME(name) "_ULx86_64_" name
#define LIBUNWIND_COMMON_NAME(name) "_Ux86_64_" name
enum { REGISTER_IP = 16, REGISTER_SP = 7 };
#elif defined(__aarch64__)
#define LIBUNWIND_NAME(name) "_ULaarch64_" name
#define LIBUNWIND_COMMON_NAME(name) "_Uaarch64_" name
/* Libunwind for AArch64 takes the link register for the instruction pointer. */
enum { REGISTER_FRAME = 29, REGISTER_IP = 30, REGISTER_SP = 31 };
#else
#error "how does libunwind name its functions and the program counter on this machine?"
#endif

enum {
    OWN_FRAMES_MAX = 32,
    KNOWN_CODE_MAX = 1 << 10,
    CALLS_MAX = 1 << 16,
    SIGNAL_FRAME = 1,
    CURSOR_BYTES = 8192
};

struct unwinder {
    backtrace_function *backtrace;
    init_function *init;
    step_function *step;
    get_register_function *get_register;
    get_procedure_function *get_procedure;
    flush_function *flush;
    void **space; /* the address space, an argument of flush */
};

static pthread_mutex_t choice_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool is_chosen;
static struct unwinder unwinder; /* constant once `is_chosen`, as is the mode */
static _Atomic int stacks_mode = SC_STACKS_SITE;
_Atomic bool sc_unwind_is_plain;

/* Opens libunwind and finds its functions; without it, all are NULL. The pipe by which it checks
 * memory is replaced before it opens one. */
static struct unwinder look_up_unwinder(void)
{
    struct unwinder found = {.backtrace = NULL};
    void *library = sc_unwind_library_open();
    if (!library)
        return found;
#define FIND(member, name) found.member = (member##_function *)sc_loader_symbol(library, name)
    FIND(backtrace, "unw_backtrace");
    FIND(init, LIBUNWIND_NAME("init_local2"));
    FIND(step, LIBUNWIND_NAME("step"));
    FIND(get_register, LIBUNWIND_NAME("get_reg"));
    FIND(get_procedure, LIBUNWIND_NAME("get_proc_info"));
    FIND(flush, LIBUNWIND_COMMON_NAME("flush_cache"));
#undef FIND
    found.space = (void **)sc_loader_symbol(library, LIBUNWIND_NAME("local_addr_space"));
    sc_unwinder_pipe_note((const void *)found.step);
    return found;
}

/* Sets libunwind's functions and how stacks are taken (`mode`), for all threads, in the first call.
 * Several threads may have looked libunwind up at once. Returns whether this was the first call. */
static bool choose_once(int mode, const struct unwinder *found)
{
    sc_mutex_lock(&choice_lock);
    bool first = !atomic_load_explicit(&is_chosen, memory_order_relaxed);
    if (first) {
        unwinder = *found;
        atomic_store_explicit(&stacks_mode, mode, memory_order_release);
        atomic_store_explicit(&sc_unwind_is_plain, mode == SC_STACKS_FULL, memory_order_release);
        atomic_store_explicit(&is_chosen, true, memory_order_release);
    }
    sc_mutex_unlock(&choice_lock);
    return first;
}

/* The library was loaded by the driver: its hook of dlclose is not called, so no stack may be
 * recognised by an inlined look-up, which would not notice that a module was closed. */
void sc_unwind_note_alone(void)
{
    atomic_store_explicit(&sc_unwind_is_plain, false, memory_order_release);
}

/* Says on stderr why stacks will be short. The search for libunwind has left an error in dlerror(),
 * which the program must not see. */
static void say_what_is_missing(const struct sc_options *options, bool no_libunwind)
{
    sc_unwind_library_say_skipped(options->verbosity);
    if (no_libunwind && options->verbosity >= 1)
        sc_report_say(NULL, "libunwind.so.8 not found beside libsafecopy.so nor in the system: "
                            "stacks show the calling frame only");
    dlerror();
}

/* Loads libunwind and chooses how stacks are taken, once: as the option says, but without libunwind
 * only the calling frame. Not under ThreadSanitizer, which would report races within libunwind.
 * Threads that come at once all look it up, as no lock may be held over the loader's. */
void sc_unwind_start(const struct sc_options *options)
{
    if (atomic_load_explicit(&is_chosen, memory_order_acquire))
        return;
    bool full = options->stacks == SC_STACKS_FULL;
    bool wanted = !sc_sanitizers_see_threads();
    struct unwinder found = {.backtrace = NULL};
    if (wanted) {
        found = look_up_unwinder();
        dlerror();
    }
    bool missing = full && !found.backtrace;
    if (choose_once(missing ? SC_STACKS_SITE : options->stacks, &found) && wanted)
        say_what_is_missing(options, missing);
    if (options->python && options->stacks != SC_STACKS_NONE)
        sc_python_stacks_start(options->stacks == SC_STACKS_FULL ? SC_STACK_DEPTH_MAX : 1);
}

/* Returns how stacks are taken: enum sc_stacks_mode's full, site or none. Until sc_unwind_start:
 * the site alone. */
static inline int mode_now(void)
{
    return atomic_load_explicit(&stacks_mode, memory_order_acquire);
}

/* Has libunwind all functions that are needed to walk from caller to caller? */
static bool can_unwind_by_steps(void)
{
    return unwinder.init && unwinder.step && unwinder.get_register && unwinder.flush &&
           unwinder.space;
}

/* Do stacks have more than the calling frame: does the option ask for that, and is libunwind there?
 */
bool sc_unwind_is_deep(void)
{
    return mode_now() == SC_STACKS_FULL && can_unwind_by_steps();
}

/* ---- modules that were closed ----
 *
 * libunwind stores frame sizes by the address of code, and does not notice when a module is closed.
 * If another module is mapped there, it would step by the sizes of the first one, out of the stack
 * and into nothing. What it has stored for walks by steps can be flushed. What unw_backtrace has
 * stored, in each thread, cannot. So a thread that used unw_backtrace before a module was closed
 * walks by steps from then on. */

struct object_counts {
    uint64_t loaded, closed;
};

/* A visitor of loaded objects: reads the loader's counts at the first one, and ends the visit. */
static int count_objects(struct dl_phdr_info *info, size_t size, void *counts)
{
    (void)size;
    *(struct object_counts *)counts = (struct object_counts){info->dlpi_adds, info->dlpi_subs};
    return 1;
}

/* Counts the modules (libraries) closed so far, and passes the count to what recognises stacks.
 * Called before unwinding, and after dlclose. The cache is written only when the count changes:
 * every thread reads it. */
static uint64_t count_closed(void)
{
    struct object_counts counts = {0, 0};
    sc_objects_visit(count_objects, &counts);
    if (atomic_load_explicit(&sc_stack_cache_closed, memory_order_relaxed) != counts.closed)
        atomic_store_explicit(&sc_stack_cache_closed, counts.closed, memory_order_relaxed);
    sc_python_stacks_note_objects(counts.loaded, counts.closed);
    return counts.closed;
}

/* Called after dlclose: a Python interpreter may be gone, and stacks through the module's code must
 * not be recognised. Nothing was recognised yet if stacks are not set up. */
void sc_unwind_note_closed(void)
{
    sc_python_stacks_note_closed();
    if (atomic_load_explicit(&is_chosen, memory_order_acquire))
        count_closed();
}

/* Makes libunwind forget what it has cached of code, if a module was closed since the last call:
 * another one may be loaded there. */
static void flush_closed(uint64_t closed)
{
    static _Atomic uint64_t forgotten;
    if (atomic_load(&forgotten) == closed)
        return;
    unwinder.flush(*unwinder.space, 0, 0);
    atomic_store(&forgotten, closed);
}

/* Can the stack be walked by steps? Called before every such walk: makes libunwind forget modules
 * that were closed since the last one. */
static bool prepare_steps(void)
{
    if (!atomic_load_explicit(&is_chosen, memory_order_acquire) || !can_unwind_by_steps())
        return false;
    flush_closed(count_closed());
    return true;
}

/* May this stack be walked by steps, and does the option ask for whole stacks? Like prepare_steps,
 * makes libunwind forget closed modules. */
static bool prepare_walk(void)
{
    return sc_unwind_is_deep() && prepare_steps();
}

/* May this thread use unw_backtrace, libunwind's fast way? It keeps frame sizes by address for each
 * thread, and cannot be told to forget them. So not if a module was closed since the thread first
 * used it: another module may be at the same addresses. The first call notes the count, from which
 * this is seen. Nor for the first STEPPED stacks of a thread other than the main one: what
 * libunwind keeps takes 256 KB and 200 us, and most threads that come and go have no more stacks.
 */
static bool prepare_trace(void)
{
    enum { STEPPED = 8 };
    static __thread unsigned stepped;
    static __thread uint64_t traced_since; /* modules closed before the first trace, + 1 */
    uint64_t closed = count_closed();
    if (stepped < STEPPED && ++stepped && sc_thread_id() != getpid())
        return false;
    if (traced_since == 0)
        traced_since = closed + 1;
    return traced_since == closed + 1;
}

/* Corrects an address that libunwind for aarch64 returns, the byte before a return address.
 * Instructions begin at multiples of 4. */
static uintptr_t return_address(uintptr_t ip)
{
#if defined(__aarch64__)
    return (ip + 3) & ~(uintptr_t)3;
#else
    return ip;
#endif
}

/* Collects the callers with unw_backtrace, the fast way of libunwind. Returns how many; the
 * innermost are the library's. */
static int trace_here(void **frames, unsigned max)
{
    int count = unwinder.backtrace(frames, (int)max);
    for (int i = 0; i < count; i++)
        frames[i] = (void *)return_address((uintptr_t)frames[i]);
    return count;
}

/* Steps to the next caller. Returns its return address; 0 if there is none, or if libunwind cannot
 * find it. */
static uintptr_t next_caller(void *cursor)
{
    uintptr_t ip = 0;
    bool stepped =
        unwinder.step(cursor) > 0 && unwinder.get_register(cursor, REGISTER_IP, &ip) == 0;
    return stepped ? return_address(ip) : 0;
}

/* Appends the callers to the `count` frames that are there. Returns the new count. */
static unsigned collect_callers(void *cursor, void **frames, unsigned count, unsigned max)
{
    uintptr_t ip;
    while (count < max && (ip = next_caller(cursor)) != 0)
        frames[count++] = (void *)ip;
    return count;
}

/* Collects the callers step by step, where unw_backtrace may not be used. Returns how many; 0:
 * stacks cannot be walked. */
static __attribute__((noinline)) unsigned walk_here(void **frames, unsigned max)
{
    _Alignas(16) char cursor[CURSOR_BYTES];
    ucontext_t context;
    if (!prepare_walk() || getcontext(&context) != 0 || unwinder.init(cursor, &context, 0) != 0)
        return 0;
    return collect_callers(cursor, frames, 0, max);
}

/* ---- stacks ---- */

/* Adds 1 to each frame. unw_backtrace of libunwind 1.2 and 1.3 returns the byte before each return
 * address, unless it had to go its slow way. */
static void correct_each(void **frames, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        frames[i] = (char *)frames[i] + 1;
}

/* Returns how many of the innermost frames are the library's: those up to the one that returns to
 * `site`, the program's call. 0: `site` is not among them, and nothing is left out. If the frame is
 * one byte too low, so are all (correct_each): no return address lies right before another. */
static unsigned count_own_frames(void **frames, unsigned count, const char *site)
{
    for (unsigned i = 0; i < count && i < OWN_FRAMES_MAX; i++) {
        if (frames[i] == site - 1)
            correct_each(frames, count);
        if (frames[i] == site)
            return i;
    }
    return 0;
}

/* Steps to the caller. *frame: the return address of the function that is left, and its place;
 * *end: where the function's part of the stack ends, at its caller's stack pointer. On x86-64 the
 * return address is stored right below that. On AArch64 it is in a register at first; a function
 * with a frame pointer has saved it after the word to which that points. Otherwise the place stays
 * unknown. */
static bool step_out(void *cursor, struct sc_frame *frame, uintptr_t *end)
{
    *frame = (struct sc_frame){0, 0};
#if defined(__aarch64__)
    uintptr_t saved = 0;
    uintptr_t start = 0;
    if (unwinder.get_register(cursor, REGISTER_FRAME, &saved) != 0 ||
        unwinder.get_register(cursor, REGISTER_SP, &start) != 0)
        return false;
    saved += sizeof(uintptr_t);
#endif
    if (unwinder.step(cursor) <= 0 || unwinder.get_register(cursor, REGISTER_SP, end) != 0 ||
        unwinder.get_register(cursor, REGISTER_IP, &frame->caller) != 0)
        return false;
    frame->caller = return_address(frame->caller);
#if defined(__aarch64__)
    bool is_in = saved >= start && saved < *end && saved % sizeof(uintptr_t) == 0;
    bool is_saved = is_in && *(const volatile uintptr_t *)saved == frame->caller;
    frame->place = is_saved ? saved : 0;
#else
    frame->place = *end - sizeof(uintptr_t);
#endif
    return true;
}

#if defined(__x86_64__)
/* Steps over the library's own frames, up to the one that returns to `frame`. False: it is not
 * among the first ones. */
static bool step_to(void *cursor, const void *frame)
{
    for (unsigned own = 0; own < OWN_FRAMES_MAX; own++)
        if (next_caller(cursor) == (uintptr_t)frame)
            return true;
    return false;
}

/* Stores where on the stack the return addresses frames[1] and on lie. frames[0] is the program's
 * call. False: the walk finds other frames than these, or not the place of one. */
static bool place_all(void *cursor, void *const *frames, unsigned count, uintptr_t *places)
{
    struct sc_frame frame;
    uintptr_t end;
    if (!step_to(cursor, frames[0]))
        return false;
    for (unsigned i = 1; i < count; i++) {
        if (!step_out(cursor, &frame, &end) || frame.caller != (uintptr_t)frames[i])
            return false;
        places[i - 1] = frame.place;
    }
    return true;
}

/* Finds by a walk for each frame but the first where on the stack its return address lies, so that
 * this stack can be recognised the next time (stack_cache.h). False: that cannot be found. */
static bool place_frames(void *const *frames, unsigned count, uintptr_t *places)
{
    _Alignas(16) char cursor[CURSOR_BYTES];
    ucontext_t context;
    return prepare_walk() && getcontext(&context) == 0 && unwinder.init(cursor, &context, 0) == 0 &&
           place_all(cursor, frames, count, places);
}
#else
static sc_stack_cache_place *const place_frames = NULL;
#endif

/* A stack that is being taken: an argument for a spare stack. */
struct trace {
    void *site;
    uintptr_t depth;
    uint32_t id; /* result */
};

/* Unwinds the stack and stores it, without the library's own frames; if that fails, the calling
 * frame alone. unw_backtrace is not used on a spare stack, where the walk changes stacks. A stack
 * is learnt, to be recognised later, unless the call came from a spare stack: its frames lie
 * elsewhere each time. */
static __attribute__((noinline)) void take_trace(void *argument)
{
    struct trace *trace = argument;
    void *frames[SC_STACK_DEPTH_MAX + OWN_FRAMES_MAX];
    SC_INSIDE();
    SC_NO_CANCELLATION_POINT();
    int traced = prepare_trace() && !sc_spare_stack_is_current()
                     ? trace_here(frames, SC_STACK_DEPTH_MAX + OWN_FRAMES_MAX)
                     : (int)walk_here(frames, SC_STACK_DEPTH_MAX + OWN_FRAMES_MAX);
    if (traced <= 0) {
        trace->id = sc_stacks_put(&trace->site, 1);
        return;
    }
    unsigned count = (unsigned)traced;
    unsigned own = count_own_frames(frames, count, trace->site);
    trace->id = sc_stacks_put(frames + own, count - own);
    if (!sc_spare_stack_holds(trace->depth))
        sc_stack_cache_learn(trace->site, trace->depth, trace->id, frames + own, count - own,
                             place_frames);
}

/* Returns the id of the current stack: recognised, unwound, or of the call site alone if the option
 * says so, with Python frames. Where the library does not see dlclose (alone), it asks the loader
 * each time how many modules were closed. */
static __attribute__((noinline)) uint32_t take_stack(void *site, uintptr_t depth)
{
    SC_KEEP_ERRNO();
    if (sc_unlikely(sc_process_is_alone())) /* the hook of dlclose is not called */
        count_closed();
    if (mode_now() == SC_STACKS_SITE)
        return sc_python_stacks_complete(sc_stacks_put(&site, 1));
    const struct sc_stack_known *known = sc_stack_cache_find(site, depth);
    struct trace trace = {site, depth, known ? known->id : 0};
    if (!known)
        sc_spare_stack_make_room(take_trace, &trace);
    return sc_python_stacks_complete(trace.id);
}

/* Returns the id of the current stack, from the program's call `site` outward; 0 if no stacks are
 * wanted. */
uint32_t sc_unwind_at(void *site, uintptr_t depth)
{
    return mode_now() == SC_STACKS_NONE ? 0 : take_stack(site, depth);
}

/* Returns the id of the stack of the hook's caller; `site` is where the hook returns. It is
 * recognised quickly if the same callers came before. */
__attribute__((noinline)) uint32_t sc_unwind_here(void *site)
{
    uintptr_t depth = (uintptr_t)__builtin_frame_address(0);
    const struct sc_stack_known *known = sc_unwind_known(site, depth);
    return sc_likely(known != NULL) ? known->id : sc_unwind_at(site, depth);
}

/* Returns the id of an origin: this call with its stack and label, as reports name where memory
 * came from. It is kept with the recognised stack, so that the same call need not be looked up
 * again; but not if Python frames would have to be added each time. */
uint32_t sc_unwind_origin_at(const char *api, void *site, uint32_t label, uintptr_t depth)
{
    sc_thread_stack_learn();
    struct sc_stack_known *known = sc_unwind_is_whole() ? sc_stack_cache_find(site, depth) : NULL;
    if (known && known->api == api && known->label == label)
        return known->origin;
    uint32_t stack = known ? known->id : sc_unwind_at(site, depth);
    uint32_t origin = sc_origins_put(api, stack, label);
    if (known && origin)
        *known = (struct sc_stack_known){stack, origin, label, api};
    return origin;
}

/* Collects the stack of a thread that a signal has interrupted, from the context that its handler
 * has. frames[0] is `pc`, where it was interrupted; that one alone if stacks cannot be walked. */
unsigned sc_unwind_frames(const void *context, uintptr_t pc, void **frames, unsigned max)
{
    SC_INSIDE();
    _Alignas(16) char cursor[CURSOR_BYTES];
    SC_NO_CANCELLATION_POINT();
    frames[0] = (void *)pc;
    if (max == 1 || !prepare_steps() || unwinder.init(cursor, context, SIGNAL_FRAME) != 0)
        return 1;
    return collect_callers(cursor, frames, 1, max);
}

/* Is `is_sought` true for the return address of any caller of the interrupted thread? However deep
 * the stack is, up to a bound on endless ones. False also if stacks cannot be walked. */
bool sc_unwind_any_caller(const void *context, bool (*is_sought)(uintptr_t address))
{
    SC_INSIDE();
    _Alignas(16) char cursor[CURSOR_BYTES];
    uintptr_t ip = 0;
    SC_NO_CANCELLATION_POINT();
    if (!prepare_steps() || unwinder.init(cursor, context, SIGNAL_FRAME) != 0)
        return false;
    for (unsigned depth = 0; depth < CALLS_MAX && (ip = next_caller(cursor)) != 0; depth++)
        if (is_sought(ip))
            return true;
    return false;
}

/* Returns the id of the stack of a thread that a signal has interrupted, with Python frames; 0 if
 * no stacks are wanted. This runs in a signal handler, so nothing is recognised or learnt. */
uint32_t sc_unwind_from(const void *context, uintptr_t pc)
{
    SC_INSIDE();
    void *frames[SC_STACK_DEPTH_MAX];
    int mode = mode_now();
    if (mode == SC_STACKS_NONE)
        return 0;
    unsigned max = mode == SC_STACKS_FULL ? SC_STACK_DEPTH_MAX : 1;
    unsigned count = sc_unwind_frames(context, pc, frames, max);
    frames[0] = (void *)(pc + 1); /* readers subtract 1 from a return address */
    return sc_python_stacks_insert_carefully(sc_stacks_put(frames, count));
}

/* The search for the frame in which an address lies. */
struct owner_search {
    uintptr_t address;
    uintptr_t from; /* a frame of the library on the caller's stack, not on a spare one */
    struct sc_unwind_owner owner;
};

/* A cache of addresses of code with unwind information, each with how many modules had been closed
 * when it was looked up. A look-up takes 4 us (Linux 6.18 in a virtual machine, libunwind 1.6). */
static _Atomic uint64_t known_code[KNOWN_CODE_MAX];

/* Returns the entry of the cache that says: the code at `ip` has unwind information, as of the
 * modules that are loaded now. */
static uint64_t known_code_entry(uintptr_t ip)
{
    uint64_t closed = atomic_load_explicit(&sc_stack_cache_closed, memory_order_relaxed);
    return (uint64_t)ip ^ closed << 48;
}

/* Has the code of the present frame unwind information? Without it libunwind guesses where the
 * frame ends and does not say so; but it then reports a procedure of a single instruction. What has
 * it is remembered in a cache. */
static bool has_unwind_information(void *cursor)
{
    struct procedure_info info;
    uintptr_t ip = 0;
    if (unwinder.get_register(cursor, REGISTER_IP, &ip) != 0)
        return false;
    uint64_t entry = known_code_entry(ip);
    _Atomic uint64_t *place = &known_code[(ip ^ ip >> 10) % KNOWN_CODE_MAX];
    if (atomic_load_explicit(place, memory_order_relaxed) == entry)
        return true;
    if (unwinder.get_procedure(cursor, &info) != 0 || info.end - info.start <= 1)
        return false;
    atomic_store_explicit(place, entry, memory_order_relaxed);
    return true;
}

/* Walks outward over all callers with unwind information. Finds the frame in which the address
 * lies, and the base of the stack. The walk may begin on a spare stack of the library: what lies
 * there is left out, until the frame of `from` on the caller's stack is reached. */
static void walk_to_base(void *cursor, struct owner_search *search)
{
    struct sc_unwind_owner *found = &search->owner;
    struct sc_unwind_owner owner = {0};
    bool is_on_callers_stack = false;
    for (unsigned depth = 0; depth < CALLS_MAX && has_unwind_information(cursor) &&
                             step_out(cursor, &owner.local.frame, &owner.high);
         depth++) {
        is_on_callers_stack |= owner.low <= search->from && search->from < owner.high;
        if (is_on_callers_stack && owner.low <= search->address && search->address < owner.high)
            *found = owner;
        if (is_on_callers_stack)
            found->local.base = owner.high;
        owner.low = owner.high;
        owner.pc = owner.local.frame.caller;
    }
}

/* Searches for the frame that contains the address (a struct owner_search). A walk takes much
 * stack, so this is called where there is room. Without libunwind nothing is found. */
static __attribute__((noinline)) void search_owner(void *search)
{
    _Alignas(16) char cursor[CURSOR_BYTES];
    ucontext_t context;
    if (prepare_steps() && unwinder.get_procedure && getcontext(&context) == 0 &&
        unwinder.init(cursor, &context, 0) == 0)
        walk_to_base(cursor, search);
}

/* Finds the frame of the calling thread that contains the address, which is that of a local
 * variable. By the frame it is seen later when the function has returned and the variable is gone.
 */
__attribute__((noinline)) struct sc_unwind_owner sc_unwind_owner_of(uintptr_t address)
{
    struct owner_search search = {.address = address,
                                  .from = (uintptr_t)__builtin_frame_address(0)};
    SC_INSIDE();
    SC_NO_CANCELLATION_POINT();
    sc_spare_stack_make_room(search_owner, &search);
    return search.owner;
}

/* Returns where the stack begins on which the thread runs, by a walk to the outermost caller; 0:
 * unknown. No frame contains the address 0. */
uintptr_t sc_unwind_base(void)
{
    return sc_unwind_owner_of(0).local.base;
}
