#include "interpose/driver/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "common/checks.h"
#include "common/handles.h"
#include "common/mutex.h"
#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/driver_code.h"
#include "interpose/driver/exported_doors.h"

#include "common/poison.h"

struct sc_real sc_real;

static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool attached;
static struct sc_handles wrappers; /* real function -> wrapper */
static _Atomic int runtime_version;

/* One function of api.def. */
struct row {
    const char *symbol;
    size_t slot; /* offset in struct sc_real */
    void *wrapper;
    const void *exported;
    _Atomic(void *) *door;
};

static const struct row rows[] = {
#define SC_ROW(symbol, name, version, variant, replay, arguments)                                  \
    {#symbol, offsetof(struct sc_real, symbol), (void *)symbol, sc_exported_##symbol,              \
     &sc_door_##symbol},
#define SC_USED(symbol, name, version)                                                             \
    {#symbol, offsetof(struct sc_real, symbol), NULL, NULL, NULL},
#include "interpose/driver/api.def"
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* Returns where the table has the pointer to this row's function. */
static void **slot_of(const struct row *row, struct sc_real *table)
{
    return (void **)(void *)((char *)table + row->slot);
}

/* Is the function one of the library's wrappers, or the exported jump to one? A look-up of the
 * driver's functions may find these instead. */
bool sc_driver_is_wrapper(const void *function)
{
    for (unsigned i = 0; i < ROW_COUNT; i++)
        if (rows[i].wrapper == function || rows[i].exported == function)
            return true;
    return false;
}

/* Returns the handle in which to look the driver's functions up: the caller's, if it leads to the
 * driver itself; else that of the driver that a linked program has loaded. A wrapper, or a
 * program's jump (PLT) to one, is not the driver's function. */
static void *driver_handle(void *handle)
{
    void *init = handle ? sc_loader_symbol(handle, "cuInit") : NULL;
    if (init && !sc_driver_is_wrapper(init) && !sc_loader_is_stub(init))
        return handle;
    return dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
}

/* Looks all functions of the driver up, into a table of the caller's: every look-up takes the
 * loader's lock, so no lock of the library's may be held. False: there is no driver. A function
 * that this driver lacks stays NULL, and so does one for which only the library's own is found. */
static bool look_up_all(void *handle, struct sc_real *table)
{
    void *driver = driver_handle(handle);
    void *init = driver ? sc_loader_symbol(driver, "cuInit") : NULL;
    Dl_info where;
    if (!init || sc_driver_is_wrapper(init))
        return false;
    /* The driver is kept loaded for good, under its own name, whatever name the program used. */
    if (dladdr(init, &where) && where.dli_fname)
        dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    for (unsigned i = 0; i < ROW_COUNT; i++) {
        void *real = sc_loader_symbol(driver, rows[i].symbol);
        if (real && !sc_driver_is_wrapper(real))
            *slot_of(&rows[i], table) = real;
    }
    dlerror();
    return true;
}

/* Publishes the table, and by which way the program's calls get to the wrappers: look-ups through
 * the map `wrappers`. In mode=off the exported symbols jump directly to the driver instead, and
 * there is no map. */
static void fill_locked(struct sc_real *table) SC_REQUIRES(attach_lock)
{
    SC_ASSERT_HELD(&attach_lock);
    for (unsigned i = 0; i < ROW_COUNT; i++) {
        void *real = *slot_of(&rows[i], table);
        *slot_of(&rows[i], &sc_real) = real;
        if (!real || !rows[i].wrapper)
            continue;
        if (sc_process_wants_wrappers())
            sc_handles_put(&wrappers, (uintptr_t)real, (uintptr_t)rows[i].wrapper);
        else
            atomic_store_explicit(rows[i].door, real, memory_order_relaxed);
    }
}

/* Attaches to the driver. All threads that come here at the same time look the functions up, and
 * the first one's table is used. No thread waits for the loader while it holds the lock: a
 * constructor, which holds the loader's lock, may need the driver as well. */
static void attach_once(void *handle)
{
    struct sc_real table = {0};
    sc_life_start();
    if (!look_up_all(handle, &table))
        return;
    SC_LOCKED(&attach_lock);
    if (!atomic_load_explicit(&attached, memory_order_relaxed) && sc_handles_init(&wrappers) == 0) {
        fill_locked(&table);
        sc_driver_code_note();
        atomic_store_explicit(&attached, true, memory_order_release);
    }
}

/* Attaches to the driver, unless that is done; `handle`: NULL, or where the program found the
 * driver. Returns whether there is a driver. */
bool sc_driver_attach(void *handle)
{
    if (sc_unlikely(!atomic_load_explicit(&attached, memory_order_acquire)))
        attach_once(handle);
    return atomic_load_explicit(&attached, memory_order_acquire);
}

/* Returns the wrapper of a driver's function that the program has looked up, or the function itself
 * if it has none. */
void *sc_driver_wrapper_of(void *real)
{
    if (!atomic_load_explicit(&attached, memory_order_acquire))
        return real;
    uintptr_t wrapper = (uintptr_t)sc_handles_get(&wrappers, (uintptr_t)real);
    return wrapper ? (void *)wrapper : real;
}

/* Is there a wrapper of the driver's function of this name, so that a look-up of the name concerns
 * the library? */
bool sc_driver_wraps(const char *symbol)
{
    for (unsigned i = 0; i < ROW_COUNT; i++)
        if (rows[i].wrapper && strcmp(rows[i].symbol, symbol) == 0)
            return true;
    return false;
}

/* Has the driver this function, whose pointer lies at `real_slot` in sc_real? A wrapper asks that
 * finds it NULL: nothing may have attached to the driver yet. */
bool sc_driver_has(const void *real_slot)
{
    return sc_driver_attach(NULL) && *(void *const *)real_slot != NULL;
}

/* Returns the largest CUDA version that the program has asked cuGetProcAddress for: its runtime's.
 */
int sc_driver_runtime_version(void)
{
    return atomic_load_explicit(&runtime_version, memory_order_relaxed);
}

/* Notes a CUDA version that the program has asked cuGetProcAddress for; the largest is its
 * runtime's. */
void sc_driver_note_version(int version)
{
    if (version > atomic_load_explicit(&runtime_version, memory_order_relaxed))
        atomic_store_explicit(&runtime_version, version, memory_order_relaxed);
}
