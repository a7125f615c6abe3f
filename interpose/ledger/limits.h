/* Sets limits of contexts (cuCtxSetLimit) as options ask for, notes changes that the program makes,
 * and reports a change that comes too late to take effect (SC603).
 *
 * The size of the device's malloc heap is fixed when a kernel that calls malloc is launched for the
 * first time (docs/driver.md). No call returns whether it is fixed: the driver then refuses to set
 * the very value that is in force, by which this is recognised. So when a function or a module is
 * met for the first time, launches are watched until that question was asked after the function's
 * first launch. While nothing new is met, no launch is watched.
 *
 * The question is not asked if the driver logs its errors for the program (CUDA_LOG_FILE, or a
 * callback), since the refusal would be logged.
 *
 * The driver is asked in relaxed mode, which breaks no capture, and no value is changed. Locks:
 * none of the library's may be held. errno is kept. Thread-safe, not signal-safe. */

/* Terms (docs/glossary.md):
 *   post-mortem: the report's line that says what was in flight when a context was lost
 */

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

/* In place of a device: the context was just made, is current, and is not a primary one. */
enum { SC_LIMITS_NEW = -1 };

/* Begins to watch limits. Called when the driver is initialised. */
void sc_limits_start(void);

static inline bool sc_limits_are_wanted(void)
{
    return sc_options.device_heap_bytes || sc_options.stack_limit_bytes ||
           sc_options.printf_fifo_bytes;
}

/* Returns true if limits have to be set in the context that the call, which is about to be made,
 * will create. */
bool sc_limits_are_due(int primary);

/* Sets the limits of the context that the call has made to what the options say. */
void sc_limits_apply(const struct sc_call *call, int primary);

/* Called around the program's cuCtxSetLimit. */
void sc_limits_change_begins(void);
void sc_limits_changed(const struct sc_call *call, CUlimit limit, size_t value, CUresult result);

/* Notes that a module was loaded, or a function found: launches are watched until the first launch
 * of it. */
void sc_limits_function_met(const struct sc_call *call);

/* Notes that the driver logs its errors for the program from now on: the question about the heap,
 * which causes an error, is not asked any more. */
void sc_limits_errors_are_logged(void);

/* Notes a module that is being loaded, as CUPTI reports it. `context` NULL: not known. Called from
 * within the driver: does not call the driver, unwinds no stack, and takes a lock only briefly. */
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

/* For the post-mortem: returns the launch that has fixed the size of the heap, or, if none is
 * known, the load of a module that calls malloc. NULL: neither is known. */
const struct sc_limit_event *sc_limits_heap_user(const struct sc_context *context);

void sc_limits_context_ended(const struct sc_context *context);

/* Copies all known events. Returns false if there are none. */
bool sc_limits_draw(struct sc_limit_events *limits);

#endif
