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

struct module {
    uintptr_t start, end; /* of its pages */
    uintptr_t dynamic;    /* the address of its dynamic section, as in the loader's record */
    bool waited;          /* what was in flight there was checked, and then waited for */
    struct sc_decided decided;
};

/* Modules in which something is in flight or registered, as many as there is room for. */
struct modules {
    unsigned count;
    struct module list[MODULES_MAX];
};

/* The modules of the innermost dlclose under way on this thread. */
static __thread struct modules *closing;

/* Finds the addresses of a loaded module. */
static struct module describe_module(const struct dl_phdr_info *info)
{
    const struct sc_object_range range = sc_object_range_in(info);
    struct module module = {.start = range.start, .end = sc_losses_whole_pages(range.end)};
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            module.dynamic = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    return module;
}

/* A visitor of objects: adds a module in which operations are in flight. The program itself has no
 * name, and is never closed. */
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

/* A visitor of objects: searches for the same module. */
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

/* Is the module no longer among the loaded ones? The visit clears `dynamic` if it finds the same
 * one. */
static bool is_gone(const struct module *module)
{
    struct module sought = {.start = module->start, .dynamic = module->dynamic};
    sc_objects_visit(find_same, &sought);
    return sought.dynamic != 0;
}

/* Is the handle the module's? A handle is the loader's record of the module; a wrong one may be no
 * address, so it is read with care. */
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

/* Does the loader run code of the module before it unmaps it? */
static bool has_destructors(const struct module *module)
{
    const ElfW(Dyn) *entry = (const void *)module->dynamic;
    while (entry && entry->d_tag != DT_NULL && entry->d_tag != DT_FINI &&
           entry->d_tag != DT_FINI_ARRAY)
        entry++;
    return entry && entry->d_tag != DT_NULL;
}

/* Waits for operations in the module beyond those that were found, by the reaper: a search finds
 * only a limited number. */
static void wait_for_rest(const struct module *module)
{
    SC_DEALLOCATION request = deallocation_of(module);
    request.hold = true;
    request.stays = true;
    sc_deallocation_search(&request, NULL);
    sc_deallocation_finish(&request, "dlclose");
}

/* Waits for the operations. Returns whether any was incomplete. This thread queries the device
 * itself: the reaper would need the loader's lock to report, which is held here. */
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

/* Decides on hazards of what is in flight in the module, and then waits for it: after the wait
 * everything is complete. */
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

/* Reports what was in flight in a module that is gone. */
static void after_unmapping(const struct module *module, const struct sc_culprit *culprit)
{
    SC_DEALLOCATION request = deallocation_of(module);
    struct sc_buffer buffer = {request.address, request.size_bytes};
    sc_deallocation_search(&request, culprit);
    if (module->waited)
        sc_hazards_report_decided(SC104, SC_ACTION_STALLED, &module->decided, &buffer, culprit);
    else
        sc_deallocation_report(&request, SC104, culprit);
    sc_deallocation_note_for_graphs(request.address, request.size_bytes, false, culprit);
    sc_losses_stop_watching((const void *)module->start, buffer.size_bytes, SC_SNAPSHOTS_NONE);
}

/* Unprotects pages of the modules: pages that the loader unmaps may belong to other memory when it
 * returns. */
static void unprotect_pages(const struct modules *modules)
{
    for (unsigned i = 0; i < modules->count; i++) {
        const struct module *module = &modules->list[i];
        sc_guard_unprotect((const void *)module->start, module->end - module->start);
    }
}

/* Waits, before dlclose and in mode=fix, for what is in flight in the module, unless its
 * destructors may still do so themselves. */
static void wait_for_closed(struct modules *modules, const void *handle)
{
    for (unsigned i = 0; i < modules->count; i++)
        if (sc_options.mode == SC_MODE_FIX && is_of_handle(&modules->list[i], handle) &&
            !has_destructors(&modules->list[i]))
            check_and_wait(&modules->list[i]);
}

/* Calls dlclose, and reports for each module that is gone after it what was in flight in its
 * memory. */
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

/* The objects that were loaded before the call. */
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

/* Records an object that is loaded before dlclose; the main program, which has no name, is left
 * out. */
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

/* Clears the record of an object that is still loaded after dlclose. */
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

/* Records the name and range of each object that dlclose has unloaded, for later reports. */
static void name_closed(struct objects *objects)
{
    sc_objects_visit(drop_object, objects);
    for (unsigned i = 0; i < objects->count; i++)
        if (objects->list[i].start)
            sc_closed_modules_note(objects->names + objects->list[i].name, objects->list[i].start,
                                   objects->list[i].end);
}

static void destructors_ended(struct modules *modules, uintptr_t address)
{
    for (unsigned i = 0; sc_options.mode == SC_MODE_FIX && i < modules->count; i++)
        if (address - modules->list[i].start < modules->list[i].end - modules->list[i].start)
            check_and_wait(&modules->list[i]);
}

/* `handle` lies in the module whose destructors end; NULL stands for all modules. */
SC_EXPORT void __cxa_finalize(void *handle);
SC_EXPORT void __cxa_finalize(void *handle)
{
    SC_NEXT(finalize_function *, "__cxa_finalize")(handle);
    if (sc_unlikely(closing != NULL) && handle && sc_active())
        destructors_ended(closing, (uintptr_t)handle);
}

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
