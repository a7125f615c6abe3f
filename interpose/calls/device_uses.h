/* Judges and records what a call does with device memory. If work of another stream uses the same
 * bytes without an order, one of the two writing, that is a hazard (SC501, SC502).
 *
 * A wrapper does three things, only while sc_track_watches_device:
 *
 * 1. It collects the uses of its call.
 * 2. Before the call it has them judged. Conflicts are reported, and in mode=fix the call is
 *    ordered after them.
 * 3. When the driver has accepted the call, it records the uses. Uses that were done when the call
 *    returned are left out.
 *
 * Locks: none may be held. errno may change. Calls the driver if a conflict is found: not for a
 * signal handler. */

/* Terms (docs/glossary.md):
 *   edge: an order between two pieces of work; the library adds one as a wait for an event
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CALLS_DEVICE_USES_H
#define SC_INTERPOSE_CALLS_DEVICE_USES_H

#include <stddef.h>
#include <stdint.h>

struct sc_allocation;
struct sc_call;
struct sc_device_use;
struct sc_device_uses;
struct sc_op_info;
struct sc_point;
struct sc_stream_record;

/* How a call is ordered after what it would race with: by an edge in its stream, by a wait of the
 * host, or not at all. A call that blocks the host gets no edge: the call would then last as long
 * as the earlier operation, which may itself wait for the program, and nothing would limit that
 * wait. The host waits instead before the call is made, at most stall_limit. */
enum sc_device_healing { SC_HEALED_BY_EDGE, SC_HEALED_BY_WAIT, SC_NOT_HEALED };

/* Judges the uses of a call that is about to be made on the stream, and orders the call after
 * conflicts as `healing` says. */
void sc_device_uses_judge(const struct sc_device_uses *uses, const struct sc_call *call,
                          struct sc_stream_record *stream, enum sc_device_healing healing);

/* Judges `count` uses of one call, as sc_device_uses_judge judges the few of a copy: for kernels
 * and launches, which may have many. `after`: what the call comes after besides its stream's work,
 * or NULL. */
void sc_device_uses_judge_all(const struct sc_device_use *uses, unsigned count,
                              const struct sc_call *call, struct sc_stream_record *stream,
                              enum sc_device_healing healing, const struct sc_point *after);

/* Judges one use, and orders the call after what conflicts with it. The use is described already as
 * an operation, and may also be of host memory (SC204). */
void sc_device_uses_judge_op(const struct sc_op_info *use, const struct sc_call *call,
                             struct sc_stream_record *stream, enum sc_device_healing healing);

/* Judges a call that is about to free memory in the order of the stream. `stream` NULL: the call
 * frees memory of a pool, or unmaps memory, at once; in mode=fix the host waits for the operations
 * that use the memory, since the driver would not. */
void sc_device_uses_judge_free(const struct sc_call *call, struct sc_stream_record *stream,
                               const struct sc_allocation *allocation);

/* Records the uses (at least one) of a call that the driver has accepted. `place`: the call's place
 * among those on a legacy stream, or 0. */
void sc_device_uses_note(const struct sc_device_uses *uses, const struct sc_call *call,
                         struct sc_stream_record *stream, uint64_t place);

/* Returns what all uses of a call that the driver has just accepted have in common: the ticket's
 * stream and place, the stack, the time and the thread. No number is taken yet. */
struct sc_op_info sc_device_uses_call_info(const struct sc_call *call,
                                           const struct sc_stream_record *stream, uint64_t place);

/* Copies what sc_device_uses_call_info has returned (ticket, stack, time, thread, CUPTI's names)
 * from `moment` into the description of one use. */
void sc_device_uses_set_call_info(struct sc_op_info *info, const struct sc_op_info *moment);

/* A caller with many uses passes them in portions of this size. */
enum { SC_DEVICE_USES_AT_ONCE = 16 };
/* Records one or more uses of a call that has recorded something already, or has many uses. They
 * get ticket, stack, time and thread of `op`, and SC_UNSURE_WAITS if it has that: `op` is the
 * call's recorded operation on host memory, or what sc_device_uses_call_info has returned. Returns
 * the ticket that the uses have, for further uses of the same call. */
struct sc_ticket sc_device_uses_note_all(const struct sc_device_use *uses, unsigned count,
                                         const struct sc_call *call,
                                         struct sc_stream_record *stream,
                                         const struct sc_op_info *op);

/* Records a free of the memory in the stream's order, which the driver has accepted. */
void sc_device_uses_note_ordered_free(const struct sc_call *call, struct sc_stream_record *stream,
                                      const struct sc_allocation *allocation);

/* Records an allocation of memory in the stream's order, which the driver has accepted: later uses
 * of the memory on other streams have to come after it. */
void sc_device_uses_note_allocated(const struct sc_call *call, struct sc_stream_record *stream,
                                   uintptr_t address, size_t size_bytes);

#endif
