/* The hook of dlclose, for a module whose static data is in flight.
 *
 * Only the loader knows whether a module goes: it counts who has the module open and who needs it.
 * It unmaps the module by itself. Before that the module's destructors run, and a correct module
 * waits in them for its copies. The last destructor without a priority calls __cxa_finalize, which
 * the compiler links into each module. After that call, mode=fix waits for what is still in flight
 * on the module. It is a hazard only if the module is gone afterwards.
 *
 * That wait holds the loader's lock. So if a copy waits for a thread that needs the lock, the wait
 * lasts until stall_limit. A module without destructors is waited for before the loader's own call.
 * A module whose destructors do not call __cxa_finalize is reported, and not waited for. A copy
 * that the module's own code has issued is reported with frames that have no names any more.
 */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   hook: our function in the place of one of the C library's
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 */

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "common/hazard_words.h"
#include "common/now.h"
#include "common/objects.h"
#include "common/own_pages.h"
#include "common/pages.h"
#include "common/peek.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/base/object_range.h"
#include "interpose/base/process.h"
#include "interpose/base/python_stacks.h"
#include "interpose/base/unwind.h"
#include "interpose/guard/door.h"
#include "interpose/losses/losses.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/deallocation.h"
#include "interpose/reaper/decided.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/nvtx.h"
#include "interpose/streams/marks.h"
#include "report/options.h"
#include "track/closed_modules.h"
#include "track/hold_kind.h"
#include "track/op_info.h"
#include "track/ops.h"
#include "track/track_holds.h"

#include "common/poison.h"

enum { MODULES_MAX = 16 };

typedef int dlclose_function(void *handle);
typedef void finalize_function(void *handle);

/* A loaded module (shared object) that a dlclose may unmap. */
struct module {
    uintptr_t start, end;      /* of its pages */
    uintptr_t dynamic;         /* the address of its dynamic section, as in the loader's record */
    bool waited;               /* what was in flight there was judged, and then waited for */
    struct sc_decided decided; /* ... with these verdicts */
};

/* Modules in which something is in flight or registered, as many as there is room for. */
struct modules {
    unsigned count;
    struct module list[MODULES_MAX];
};

/* The modules in use of the innermost dlclose under way on this thread; NULL: none is. */
static __thread struct modules *closing;

/* Returns where a loaded module lies, and its dynamic section, which identifies it. */
static struct module describe_module(const struct dl_phdr_info *info)
{
    const struct sc_object_range range = sc_object_range_in(info);
    struct module module = {.start = range.start, .end = sc_losses_whole_pages(range.end)};
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            module.dynamic = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    return module;
}

/* Called for each loaded module, before dlclose: adds it to the list if operations are in flight in
 * its memory. The program itself has no name, and is never closed. Returns 0: the next one follows.
 */
static int add_if_used(struct dl_phdr_info *info, size_t size, void *context)
{
    struct modules *modules = context;
    (void)size;
    if (!info->dlpi_name || !*info->dlpi_name || modules->count == MODULES_MAX)
        return 0;
    struct module module = describe_module(info);
    if (module.start < module.end &&
        sc_track_overlaps(&sc_track, module.start, module.end - module.start))
        modules->list[modules->count++] = module;
    return 0;
}

/* Called for each loaded module: is it the one sought? If so, says so by clearing sought->dynamic,
 * and returns 1, which ends the search. */
static int find_same(struct dl_phdr_info *info, size_t size, void *context)
{
    struct module *sought = context;
    (void)size;
    struct module module = describe_module(info);
    bool found = module.start == sought->start && module.dynamic == sought->dynamic;
    if (found)
        sought->dynamic = 0;
    return found;
}

/* Has the dlclose unmapped the module? Only the loader knows, so its present modules are searched
 * for one at the same place. */
static bool is_gone(const struct module *module)
{
    struct module sought = {.start = module->start, .dynamic = module->dynamic};
    sc_objects_visit(find_same, &sought);
    return sought.dynamic != 0;
}

/* Is the handle, which the program passes to dlclose, the module's? A handle is the address of the
 * loader's record of the module; a wrong one may be no address, so it is read with care. */
static bool is_of_handle(const struct module *module, const void *handle)
{
    struct link_map map;
    return sc_peek_anyhow(&map, (uintptr_t)handle, sizeof map) &&
           (uintptr_t)map.l_ld == module->dynamic;
}

/* Returns the request to find what is in flight in the module's memory. */
static struct sc_deallocation deallocation_of(const struct module *module)
{
    return (struct sc_deallocation){
        .address = module->start,
        .size_bytes = module->end - module->start,
        .kind = SC_HOLD_WAIT,
    };
}

/* Does the loader run code of the module (destructors) before it unmaps it? They may wait for the
 * copies. */
static bool has_destructors(const struct module *module)
{
    const ElfW(Dyn) *entry = (const void *)module->dynamic;
    while (entry && entry->d_tag != DT_NULL && entry->d_tag != DT_FINI &&
           entry->d_tag != DT_FINI_ARRAY)
        entry++;
    return entry && entry->d_tag != DT_NULL;
}

/* Waits for all operations in the module, by the library's thread (the reaper): a search finds only
 * a limited number, and there were more. */
static void wait_for_rest(const struct module *module)
{
    SC_DEALLOCATION request = deallocation_of(module);
    request.hold = true;
    request.stays = true;
    sc_deallocation_search(&request, NULL);
    sc_deallocation_finish(&request, "dlclose");
}

/* Waits until the operations are complete, at most stall_limit. Returns whether any was not. This
 * thread queries the device itself, and not the reaper (the library's thread), which would need the
 * loader's lock to report: that is held here. */
static bool await_all(const struct sc_ops *ops)
{
    uint64_t deadline_ns = sc_now_ns() + sc_options.stall_limit_ns;
    bool waited = false;
    sc_nvtx_stall_begin("dlclose");
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++) {
        if (sc_marks_show_complete(&ops->ops[i].ticket))
            continue;
        waited = true;
        if (!sc_marks_await(&ops->ops[i].ticket, deadline_ns))
            break;
    }
    sc_nvtx_stall_end();
    return waited;
}

/* Finds what is in flight in the module, which may be about to be unmapped, decides which of it are
 * hazards, and then waits for it. The verdicts are kept: after the wait everything is complete, and
 * only after dlclose is it known whether the module is gone. Done once for a module. */
static __attribute__((noinline)) void check_and_wait(struct module *module)
{
    SC_CARRY();
    SC_DEALLOCATION request = deallocation_of(module);
    request.stays = true;
    sc_deallocation_search(&request, NULL);
    if (module->waited || request.found.count == 0)
        return;
    sc_ops_end(&module->decided.ops);
    module->decided.ops = request.found;
    request.found = (struct sc_ops){0, NULL};
    sc_hazards_decide(&module->decided);
    module->waited = await_all(&module->decided.ops);
    if (module->waited && module->decided.ops.count > SC_TRACK_OPS_MAX)
        wait_for_rest(module);
}

/* Called after a dlclose that has unmapped the module: reports what was in flight in its memory,
 * with the verdicts found before the wait, if there was one. Graphs that name the memory learn that
 * it is gone, and nothing there is watched any more. */
static void after_unmapping(const struct module *module, const struct sc_culprit *culprit)
{
    SC_DEALLOCATION request = deallocation_of(module);
    struct sc_buffer buffer = {request.address, request.size_bytes};
    sc_deallocation_search(&request, culprit);
    if (module->waited)
        sc_hazards_report_decided(SC104, SC_ACTION_STALLED, &module->decided, &buffer, culprit);
    else
        sc_deallocation_report(&request, SC104, culprit);
    sc_deallocation_note_for_graphs(request.address, request.size_bytes, false, false, culprit);
    sc_losses_stop_watching((const void *)module->start, buffer.size_bytes, SC_SNAPSHOTS_NONE);
}

/* Unprotects the modules' pages before dlclose: what the loader unmaps may be other memory when it
 * returns, which must not be unprotected then. */
static void unprotect_pages(const struct modules *modules)
{
    for (unsigned i = 0; i < modules->count; i++) {
        const struct module *module = &modules->list[i];
        sc_guard_unprotect((const void *)module->start, module->end - module->start);
    }
}

/* Called before dlclose: in mode=fix waits for what is in flight in the module of this handle, if
 * it has no destructors, in which it could wait itself. */
static void wait_for_closed(struct modules *modules, const void *handle)
{
    for (unsigned i = 0; i < modules->count; i++)
        if (sc_options.mode == SC_MODE_FIX && is_of_handle(&modules->list[i], handle) &&
            !has_destructors(&modules->list[i]))
            check_and_wait(&modules->list[i]);
}

/* Makes a dlclose while something is in flight or registered. Before it, finds the modules with
 * operations in flight; after it, reports what was in flight in those that are gone. `closing`
 * tells the hook of __cxa_finalize, which the modules' destructors call, which they are; a
 * destructor may close a module itself (`outer`). */
static __attribute__((noinline)) int close_watched(void *handle, const struct sc_culprit *culprit)
{
    struct modules modules = {.count = 0};
    struct modules *outer = closing;
    sc_objects_visit(add_if_used, &modules);
    wait_for_closed(&modules, handle);
    unprotect_pages(&modules);
    closing = &modules;
    int result = SC_NEXT(dlclose_function *, "dlclose")(handle);
    closing = outer;
    for (unsigned i = 0; i < modules.count; i++) {
        if (is_gone(&modules.list[i]))
            after_unmapping(&modules.list[i], culprit);
        sc_ops_end(&modules.list[i].decided.ops);
    }
    return result;
}

/* ---- names of what is closed ---- */

enum { OBJECTS_MAX = 2048, NAMES_BYTES = 256 << 10 };

/* The modules that were loaded before a dlclose, with their names, which reports need for addresses
 * in a module that is gone. */
struct objects {
    unsigned count;
    size_t used;
    struct object {
        uintptr_t start, end; /* start 0: it is there still */
        uintptr_t dynamic;
        size_t name;
    } list[OBJECTS_MAX];
    char names[NAMES_BYTES];
};

/* Called for each loaded module, before dlclose: records its place and name. The main program,
 * which has no name and is never closed, is left out, as is what finds no room. */
static int add_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct objects *objects = context;
    const struct module module = describe_module(info);
    const size_t length = info->dlpi_name ? strlen(info->dlpi_name) : 0;
    (void)size;
    if (!length || objects->count == OBJECTS_MAX || length >= NAMES_BYTES - objects->used)
        return 0;
    objects->list[objects->count++] =
        (struct object){module.start, module.end, module.dynamic, objects->used};
    memcpy(objects->names + objects->used, info->dlpi_name, length + 1);
    objects->used += length + 1;
    return 0;
}

/* Called for each module that is loaded after a dlclose: takes it out of the list of those loaded
 * before, so that the ones that are gone remain. */
static int drop_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct objects *objects = context;
    const struct module module = describe_module(info);
    (void)size;
    for (unsigned i = 0; i < objects->count; i++)
        if (objects->list[i].start == module.start && objects->list[i].dynamic == module.dynamic)
            objects->list[i].start = 0;
    return 0;
}

/* Records the name and place of each module that dlclose has unmapped: later reports may have
 * stacks with addresses there. */
static void name_closed(struct objects *objects)
{
    sc_objects_visit(drop_object, objects);
    for (unsigned i = 0; i < objects->count; i++)
        if (objects->list[i].start)
            sc_closed_modules_note(objects->names + objects->list[i].name, objects->list[i].start,
                                   objects->list[i].end);
}

/* Called when the destructors of the module at the address have run, within a dlclose: what is in
 * flight in the module now is not waited for by the program, so in mode=fix it is waited for here.
 */
static void destructors_ended(struct modules *modules, uintptr_t address)
{
    for (unsigned i = 0; sc_options.mode == SC_MODE_FIX && i < modules->count; i++)
        if (address - modules->list[i].start < modules->list[i].end - modules->list[i].start)
            check_and_wait(&modules->list[i]);
}

SC_EXPORT void __cxa_finalize(void *handle);
/* The hook of __cxa_finalize, which each module calls at the end of its destructors. `handle` lies
 * in that module; NULL stands for all modules (the process ends). Within a dlclose of this thread,
 * what is in flight in the module is waited for now. */
SC_EXPORT void __cxa_finalize(void *handle)
{
    SC_NEXT(finalize_function *, "__cxa_finalize")(handle);
    if (sc_unlikely(closing != NULL) && handle && sc_active())
        destructors_ended(closing, (uintptr_t)handle);
}

/* The hook of dlclose: waits for or reports what is in flight in a module that goes, and records
 * the names of modules that are gone. Caches of stacks and of Python's code learn that code may be
 * gone. */
SC_EXPORT int dlclose(void *handle)
{
    int result;
    struct objects *objects = sc_active() ? sc_pages_map(sizeof *objects) : NULL;
    sc_python_stacks_note_closing();
    if (objects)
        sc_objects_visit(add_object, objects);
    if (sc_unlikely(sc_losses_are_watched()))
        result = close_watched(handle, &(struct sc_culprit){"dlclose", SC_SITE(), NULL});
    else
        result = SC_NEXT(dlclose_function *, "dlclose")(handle);
    sc_unwind_note_closed();
    if (objects)
        name_closed(objects);
    sc_pages_unmap(objects, sizeof *objects);
    return result;
}
