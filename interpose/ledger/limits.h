/* Sets limits of contexts (cuCtxSetLimit) as options ask for, notes the program's changes of them,
 * and reports a change that comes too late to take effect (SC603).
 *
 * The size of the device's heap is fixed when a kernel that calls malloc is launched for the first
 * time (docs/driver.md). No call says so: whether it is fixed is seen where the driver refuses the
 * very value that is in force. So launches behind a function that was met are attended, until the
 * driver has been asked behind each function's first one. While nothing new is met, nobody attends.
 *
 * Nobody asks where the program has the driver log its errors (CUDA_LOG_FILE, or a callback).
 *
 * The driver is asked in relaxed mode, which breaks no capture, and changes no value. Locks: none
 * of the library's may be held. errno is kept. Thread-safe, not signal-safe. */
#ifndef SC_INTERPOSE_LEDGER_LIMITS_H
#define SC_INTERPOSE_LEDGER_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/base/process.h"
#include "interpose/driver/driver.h"

struct sc_call;
struct sc_context;
struct sc_limit_event;
struct sc_limit_events;

/* Stands in place of a device: the context was made new and is current, and is no primary one. */
enum { SC_LIMITS_NEW = -1 };

/* The driver is up. */
void sc_limits_start(void);

static inline bool sc_limits_are_wanted(void)
{
    return sc_options.device_heap_bytes || sc_options.stack_limit_bytes ||
           sc_options.printf_fifo_bytes;
}

/* Before a call that makes a context: will it? */
bool sc_limits_are_due(int primary);

/* The call has made it: its limits become what the options say. */
void sc_limits_apply(const struct sc_call *call, int primary);

/* Around the program's cuCtxSetLimit. */
void sc_limits_change_begins(void);
void sc_limits_changed(const struct sc_call *call, CUlimit limit, size_t value, CUresult result);

/* A module was loaded, or a function was found: launches are attended until its first one. */
void sc_limits_function_met(const struct sc_call *call);

/* The program has the driver log each error from now on: the library's question, which makes one,
 * is not asked any more. */
void sc_limits_errors_are_logged(void);

/* CUPTI tells that a module is being loaded. `context` NULL: it is not known. Called within the
 * driver: calls no driver, unwinds no stack, and takes a brief lock. */
void sc_limits_module_loaded(const struct sc_context *context, const void *image,
                             size_t image_bytes);

/* Is nothing to be learnt of launches of the function in the current context? It was asked about
 * there, and its handle still means it, since no module has come or gone; or the heap is fixed. */
bool sc_limits_has_asked(CUfunction function);

/* A module was loaded, or is about to be unloaded: a handle may be another function's from now on.
 */
void sc_limits_modules_changed(void);

/* Called after a launch in the context, not captured, while launches are attended: asks whether it
 * has fixed the size of the heap. `function` NULL: a graph's. */
void sc_limits_launched(const struct sc_call *call, struct sc_context *context,
                        CUfunction function);

/* For the post-mortem: the launch that has fixed the size of the heap, or, if none is known, the
 * load of a module that calls malloc. NULL: neither is known. */
const struct sc_limit_event *sc_limits_heap_user(const struct sc_context *context);

void sc_limits_context_ended(const struct sc_context *context);

/* Copies all events that are known. False: there are none. */
bool sc_limits_draw(struct sc_limit_events *limits);

#endif
