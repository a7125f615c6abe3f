#include "interpose/driver/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "common/checks.h"
#include "common/handles.h"
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

static void **slot_of(const struct row *row, struct sc_real *table)
{
    return (void **)(void *)((char *)table + row->slot);
}

/* Is the function one of the library's wrappers, and not the driver's? */
bool sc_driver_is_wrapper(const void *function)
{
    for (unsigned i = 0; i < ROW_COUNT; i++)
        if (rows[i].wrapper == function || rows[i].exported == function)
            return true;
    return false;
}

/* Returns the handle in which to look functions up: the caller's, if it has the driver's functions;
 * else that of the driver that a linked program has loaded. */
static void *driver_handle(void *handle)
{
    void *init = handle ? sc_loader_symbol(handle, "cuInit") : NULL;
    if (init && !sc_driver_is_wrapper(init) && !sc_loader_is_stub(init))
        return handle;
    return dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
}

/* Looks all functions up, into a table of the caller's: every look-up takes the loader's lock, so
 * no lock of the library's may be held. Returns false if there is no driver. */
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

/* Publishes the table, and how functions lead to wrappers: through `wrappers`, or, in mode=off,
 * directly through the exported doors. */
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

bool sc_driver_attach(void *handle)
{
    if (sc_unlikely(!atomic_load_explicit(&attached, memory_order_acquire)))
        attach_once(handle);
    return atomic_load_explicit(&attached, memory_order_acquire);
}

/* Returns the wrapper of a driver's function, or the function itself if it has none. */
void *sc_driver_wrapper_of(void *real)
{
    if (!atomic_load_explicit(&attached, memory_order_acquire))
        return real;
    uintptr_t wrapper = (uintptr_t)sc_handles_get(&wrappers, (uintptr_t)real);
    return wrapper ? (void *)wrapper : real;
}

/* Is there a wrapper of the driver's function of this name? */
bool sc_driver_wraps(const char *symbol)
{
    for (unsigned i = 0; i < ROW_COUNT; i++)
        if (rows[i].wrapper && strcmp(rows[i].symbol, symbol) == 0)
            return true;
    return false;
}

bool sc_driver_has(const void *real_slot)
{
    return sc_driver_attach(NULL) && *(void *const *)real_slot != NULL;
}

int sc_driver_runtime_version(void)
{
    return atomic_load_explicit(&runtime_version, memory_order_relaxed);
}

void sc_driver_note_version(int version)
{
    if (version > atomic_load_explicit(&runtime_version, memory_order_relaxed))
        atomic_store_explicit(&runtime_version, version, memory_order_relaxed);
}
