/* Deallocations: what every hook and wrapper does for a call that takes memory away (free, munmap,
 * unregister). It finds which operations of the device are in flight there, reports them, and in
 * mode=fix defers the call or waits.
 *
 * To defer a call is to create a hold: the call returns success to the program, and the reaper
 * makes it when no operation uses the memory any more. The caller fills in a struct sc_deallocation
 * (track/track_holds.h): the interval, the kind of hold, and `hold` if a hold is wanted. It calls
 * sc_deallocation_handle, or the three steps one by one if it must do something between them.
 *
 * No function calls CUDA or changes errno. Locks: no lock of the library may be held; the
 * tracker's, the guard's, the report's and the reaper's are taken, one after the other.
 * Thread-safe, not signal-safe. */

/* Terms (docs/glossary.md):
 *   deallocation: every call that takes memory away (reaper/deallocation.h)
 *   guard: page protection of the memory of operations in flight
 *   held: of memory: freed by the program, and kept by the library until the device is done
 *   hold: memory that the program has freed while the device used it, kept until the device is
 *       done
 *   hook: our function in the place of one of the C library's
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_REAPER_DEALLOCATION_H
#define SC_INTERPOSE_REAPER_DEALLOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_hazard_code;
struct sc_culprit;
struct sc_deallocation;

/* Finds and reports operations in flight in the memory, and defers the call or waits (all three
 * steps below). True: the memory is held, and the caller must not make the real call. False: the
 * caller makes the real call now; for a hold of kind SC_HOLD_WAIT the wait is over. */
bool sc_deallocation_handle(struct sc_deallocation *request, enum sc_hazard_code code,
                            const struct sc_culprit *culprit);

/* The first step: finds the operations in flight, creates the hold that keeps the memory (in
 * mode=fix only), and has the pages unprotected. If no hold can be created, since max_held or
 * memory is used up, `kind` becomes SC_HOLD_WAIT; or `must_wait` stays set, if the driver's own
 * call will wait (sc_hold_is_drivers). max_held_bytes 0: the option's value. */
void sc_deallocation_search(struct sc_deallocation *request, const struct sc_culprit *culprit);

/* The second step: reports each operation that was found, with what the library did with the call.
 * `code` SC_HAZARD_CODE_COUNT: SC101 or SC102, by the operation. */
void sc_deallocation_report(const struct sc_deallocation *request, enum sc_hazard_code code,
                            const struct sc_culprit *culprit);

/* The last step: waits for the operations if the hold's kind is SC_HOLD_WAIT, at most stall_limit,
 * on behalf of the call `api`; wakes the reaper for any other hold. True: the memory is held, and
 * the caller must not make the real call. */
bool sc_deallocation_finish(const struct sc_deallocation *request, const char *api);

/* Returns true if the call need not wait: all operations that were found are of GPU kernels, and
 * request->passes_kernels is set, or none was found. */
bool sc_deallocation_needs_no_wait(const struct sc_deallocation *request);

/* Called where the memory goes at once, and is not held: records for graphs that use it which call
 * took it, so that their later launches are reported. `unregistered`: only the registration ends;
 * `detached`: a segment, which may be attached there again. */
void sc_deallocation_note_for_graphs(uintptr_t address, size_t size_bytes, bool unregistered,
                                     bool detached, const struct sc_culprit *culprit);

#endif
