/* Makes hazards for the report from what the tracker found.
 *
 * Thread-safe, not signal-safe. Locks: no lock of the library may be held; the reaper's and the
 * report's are taken, one after the other. Functions that report keep errno. */

/* Terms (docs/glossary.md):
 *   culprit: the call or instruction that came too early
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   hook: our function in the place of one of the C library's
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   known done: waited for by the program, itself or by something behind it
 *   latent: of a hazard: the operation was complete at the event, by luck
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   origin: the call that made a buffer or a stream, with its stack
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 *   source: the memory that a copy reads
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_REAPER_HAZARDS_H
#define SC_INTERPOSE_REAPER_HAZARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_action;
enum sc_direction;
enum sc_hazard_code;
enum sc_touch;
struct sc_culprit;
struct sc_graph_author;
struct sc_graph_extra;
struct sc_graph_race;
struct sc_graph_use;
struct sc_hazard_copy;
struct sc_hazard_event;
struct sc_decided;
struct sc_later;
struct sc_op_info;
struct sc_ops;
struct sc_point;

/* A piece of memory that the program knows: an allocation, a registration, or what a call was
 * given. */
struct sc_buffer {
    uintptr_t address;
    size_t size_bytes;
};

/* Returns the allocation or registration that contains the operation's bytes; else these bytes. */
struct sc_buffer sc_hazards_buffer_of(const struct sc_op_info *op);

/* Reports sources that were found changed when their operations became known done. `where`: the
 * call that found the change, not the one that made it. */
void sc_hazards_report_overwritten(const struct sc_ops *ops, const struct sc_culprit *where);

/* Called when the host knows, by a wait or a query, that all work up to the point is done: ends
 * those operations in the tracker, unprotects their pages, and reports sources that the program has
 * changed too early. `where`: the call that has learnt it. */
void sc_hazards_note_done_and_report(struct sc_point *point, const struct sc_culprit *where);

/* Reports operations on local variables of functions that have returned. The hazard's event is the
 * return; its stack has one frame, the function's. */
void sc_hazards_report_returned(const struct sc_ops *ops);

/* Returns true if mode=fix makes a call or touch wait that comes too early for this operation. It
 * does for a use that surely takes place. For one that may not (a kernel's, that of a conditional
 * node's body) only with kernels=order, since the wait may be for nothing. */
bool sc_hazards_heals(const struct sc_op_info *op);

/* Returns the code of a touch, a read or write by the program, that came before the operation was
 * done. Pure. */
enum sc_hazard_code sc_hazards_touch_code(const struct sc_op_info *op, enum sc_touch touch);

/* Reports one hazard for each operation. `code` SC_HAZARD_CODE_COUNT: each has the code of a free
 * that came too early (SC101 or SC102). Makes no CUDA call, so libc hooks may call this. */
void sc_hazards_report(enum sc_hazard_code code, enum sc_action action, const struct sc_ops *ops,
                       const struct sc_buffer *buffer, const struct sc_culprit *culprit);
/* Reports that operation `i` of `ops` and the culprit's own are not ordered, and use the same
 * memory. `later`: what the culprit does (interpose/reaper/excuses.h). If a host function may have
 * made the order, the reaper waits for its return. */
void sc_hazards_report_order(enum sc_hazard_code code, enum sc_action action,
                             const struct sc_ops *ops, unsigned i, const struct sc_later *later,
                             const struct sc_culprit *culprit);
/* Reports a touch by the program itself, one hazard for each operation. If a host function may have
 * waited for the touch, the reaper waits for its return. */
void sc_hazards_report_touch(enum sc_hazard_code code, enum sc_action action,
                             const struct sc_ops *ops, const struct sc_buffer *buffer,
                             const struct sc_culprit *culprit);

/* Called before a call that lets operations end: decides for each whether it is a hazard, and
 * whether it is observed (still running) or latent. After the call all look complete. Calls the
 * driver: not for a libc hook that the driver may call. */
void sc_hazards_decide(struct sc_decided *decided);

/* Reports the hazards that sc_hazards_decide has decided, after the call. */
void sc_hazards_report_decided(enum sc_hazard_code code, enum sc_action action,
                               const struct sc_decided *decided, const struct sc_buffer *buffer,
                               const struct sc_culprit *culprit);

/* Reports a call that breaks a capture, or would without the library. `begin`: the call that began
 * the capture. */
void sc_hazards_report_capture(enum sc_hazard_code code, enum sc_action action,
                               const struct sc_hazard_copy *begin,
                               const struct sc_culprit *culprit);

/* Reports a launch with a node that uses memory which is gone. `extra`: of the use; it has who
 * freed the memory. */
void sc_hazards_report_graph(enum sc_hazard_code code, enum sc_action action,
                             const struct sc_graph_use *use, const struct sc_graph_extra *extra,
                             const struct sc_culprit *culprit);

/* Reports a launch of a graph with two nodes that no edge orders (SC501). Whether they did harm is
 * not known. */
void sc_hazards_report_race(const struct sc_graph_race *race, const struct sc_culprit *culprit);

/* Returns the origin of the device memory at the address: the call that allocated it
 * (track/origins.h); 0: unknown. */
uint32_t sc_hazards_origin(uintptr_t address);

/* Returns the culprit's call as a hazard's event, with its stack, thread and time. Asked only where
 * there is a hazard, since the stack takes time. */
struct sc_hazard_event sc_hazards_event(const struct sc_culprit *culprit);

#endif
