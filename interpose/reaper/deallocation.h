/* Called by every hook and wrapper of a call that takes memory away (free, munmap, unregister):
 * asks what is in flight there, reports what was found, and in mode=fix defers the call or
 * waits.
 *
 * The caller fills in a struct sc_deallocation: the interval, the kind of the hold, and `hold` if a
 * hold is wanted. A caller that does something of its own between the steps may call them one by
 * one.
 *
 * Nothing here calls CUDA or changes errno. Locks: no lock of the library may be held; the
 * tracker's, the guard's, the report's and the reaper's are taken, one after the other. Thread
 * safe, not signal safe. */
#ifndef SC_INTERPOSE_REAPER_DEALLOCATION_H
#define SC_INTERPOSE_REAPER_DEALLOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_hazard_code;
struct sc_culprit;
struct sc_deallocation;

/* Does all of the steps. True: the memory is held, and the caller must not make the real call.
 * False: the caller makes the real call now; for a hold of kind SC_HOLD_WAIT the wait is over. */
bool sc_deallocation_handle(struct sc_deallocation *request, enum sc_hazard_code code,
                            const struct sc_culprit *culprit);

/* The first step: asks the tracker, and brings the pages into line. A hold is made in mode=fix
 * only. If max_held or memory is used up, a hold of the reaper's becomes SC_HOLD_WAIT. A hold of
 * the driver's keeps `must_wait`, since the driver's own call waits. max_held_bytes 0 stands for
 * the option. */
void sc_deallocation_search(struct sc_deallocation *request, const struct sc_culprit *culprit);

/* The second step: reports each operation that was found, with what has become of the call. The
 * code SC_HAZARD_CODE_COUNT means sc_hazards_free_code. */
void sc_deallocation_report(const struct sc_deallocation *request, enum sc_hazard_code code,
                            const struct sc_culprit *culprit);

/* The last step: waits for a hold of kind SC_HOLD_WAIT, at most stall_limit, on behalf of the call
 * `api`, and wakes the reaper for any other. Returns as sc_deallocation_handle. */
bool sc_deallocation_finish(const struct sc_deallocation *request, const char *api);

/* Does the call wait for nothing that was found, since all of it is of kernels? True also if
 * nothing was found. */
bool sc_deallocation_needs_no_wait(const struct sc_deallocation *request);

/* Notes a call that takes the memory away without a hold, so that later launches of graphs that
 * name the memory are reported. `unregistered`: only the registration goes. */
void sc_deallocation_note_for_graphs(uintptr_t address, size_t size_bytes, bool unregistered,
                                     const struct sc_culprit *culprit);

#endif
