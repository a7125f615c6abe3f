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

/* Do the user's options ask for limits? */
static inline bool sc_limits_are_wanted(void)
{
    return sc_options.device_heap_bytes || sc_options.stack_limit_bytes ||
           sc_options.printf_fifo_bytes;
}

/* Asked before a call that may make a context: will the call make one whose limits have to be set?
 * `primary`: the device whose primary context it asks for, which may be active already; or
 * SC_LIMITS_NEW. */
bool sc_limits_are_due(int primary);

/* Sets the limits of the context that the call has just made to what the user's options say.
 * `primary`: the device of a primary context; SC_LIMITS_NEW: the context is another one, and
 * current. */
void sc_limits_apply(const struct sc_call *call, int primary);

/* Called around the program's cuCtxSetLimit. In between no thread of the library asks about a
 * limit, since it would set the old value again. The second function notes the change, and reports
 * one that comes too late (SC603). */
void sc_limits_change_begins(void);
void sc_limits_changed(const struct sc_call *call, CUlimit limit, size_t value, CUresult result);

/* Called when a module was loaded, or a kernel's handle was returned: launches are watched until
 * the kernel's first launch, which may fix the size of the device's heap. */
void sc_limits_function_met(const struct sc_call *call);

/* Notes that the driver logs its errors for the program from now on: the question about the heap,
 * which causes an error, is not asked any more. */
void sc_limits_errors_are_logged(void);

/* Notes a module that is being loaded, as CUPTI reports it. `context` NULL: not known. Called from
 * within the driver: does not call the driver, unwinds no stack, and takes a lock only briefly. */
void sc_limits_module_loaded(const struct sc_context *context, const void *image,
                             size_t image_bytes);

/* Need launches of the function in the current context not be watched? The driver was asked about
 * it there, and its handle still means it, since no module has come or gone; or the heap is fixed
 * already. */
bool sc_limits_has_asked(CUfunction function);

/* To be called when a module was loaded, or is about to be unloaded: a handle may be another
 * function's from now on, so that functions are asked about anew. */
void sc_limits_modules_changed(void);

/* Called after a launch in the context that no capture has taken, while launches are watched: asks
 * the driver whether this launch has fixed the size of the device's heap. `function` NULL: a
 * graph's. */
void sc_limits_launched(const struct sc_call *call, struct sc_context *context,
                        CUfunction function);

/* For the post-mortem: returns the launch that has fixed the size of the heap, or, if none is
 * known, the load of a module that calls malloc. NULL: neither is known. */
const struct sc_limit_event *sc_limits_heap_user(const struct sc_context *context);

/* Notes that the context has ended: the driver may give its handle to a new one, with limits of its
 * own. */
void sc_limits_context_ended(const struct sc_context *context);

/* Copies all that is noted of limits, for the report. False if there is nothing, or if the calling
 * thread holds a lock of the library. */
bool sc_limits_draw(struct sc_limit_events *limits);

#endif
