/* Judges and records what a call does with device memory: work of other streams on the same bytes
 * with no order is a hazard (SC501, SC502).
 *
 * A wrapper does three things, only while sc_track_watches_device:
 *
 * 1. It collects the uses of its call.
 * 2. It has them judged before the call is made. What they conflict with is reported, and in
 *    mode=fix the call's stream waits for it.
 * 3. It notes them when the driver has accepted the call. Uses that were done when the call
 * returned are left out.
 *
 * Locks: none may be held. errno may change. Calls the driver where something is found: not for a
 * signal handler. */
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

/* How a call is put behind what it would race with: by an edge in its stream, by a wait of the
 * host, or not at all. A call that blocks the host is not given an edge but waits before it is
 * made, at most stall_limit. An edge would last as long as the earlier operation, which may wait
 * for the program. */
enum sc_device_healing { SC_HEALED_BY_EDGE, SC_HEALED_BY_WAIT, SC_NOT_HEALED };

/* Judges the uses of a call that is about to be made on the stream. */
void sc_device_uses_judge(const struct sc_device_uses *uses, const struct sc_call *call,
                          struct sc_stream_record *stream, enum sc_device_healing healing);

/* The same for `count` uses. `after`: what the call comes after besides its stream's work, or NULL.
 */
void sc_device_uses_judge_all(const struct sc_device_use *uses, unsigned count,
                              const struct sc_call *call, struct sc_stream_record *stream,
                              enum sc_device_healing healing, const struct sc_point *after);

/* Judges a call that frees memory of a pool, or unmaps memory, at once. In mode=fix the call waits
 * for what uses the memory, since the driver would wait for nothing. */
void sc_device_uses_judge_free(const struct sc_call *call, const struct sc_allocation *allocation);

/* Judges a call that is about to free memory in the stream's order. */
void sc_device_uses_judge_ordered_free(const struct sc_call *call, struct sc_stream_record *stream,
                                       const struct sc_allocation *allocation);

/* Records the uses (at least one) of a call that the driver has accepted. `place`: the call's, in a
 * legacy stream, or 0. */
void sc_device_uses_note(const struct sc_device_uses *uses, const struct sc_call *call,
                         struct sc_stream_record *stream, uint64_t place);

/* What all uses of a call have in common, which the driver has just accepted: the stream, the
 * stack, the time and the thread. */
struct sc_op_info sc_device_uses_call_info(const struct sc_call *call,
                                           const struct sc_stream_record *stream, uint64_t place);

/* Gives the operation the ticket, stack, time and thread of a moment. */
void sc_device_uses_set_call_info(struct sc_op_info *info, const struct sc_op_info *moment);

/* How many uses a caller that has many should pass at a time. */
enum { SC_DEVICE_USES_AT_ONCE = 16 };
/* As sc_device_uses_note, for one or more uses. `op` is the call's recorded operation on host
 * memory, or a moment: the uses get its ticket, stack, time and thread, and SC_UNSURE_WAITS if `op`
 * has it. Returns the ticket that the uses have, for further uses of the same call. */
struct sc_ticket sc_device_uses_note_all(const struct sc_device_use *uses, unsigned count,
                                         const struct sc_call *call,
                                         struct sc_stream_record *stream,
                                         const struct sc_op_info *op);

/* Records that the driver has accepted a free of the memory in the stream's order. */
void sc_device_uses_note_ordered_free(const struct sc_call *call, struct sc_stream_record *stream,
                                      const struct sc_allocation *allocation);

/* Records that the call has allocated memory in the stream's order. */
void sc_device_uses_note_allocated(const struct sc_call *call, struct sc_stream_record *stream,
                                   uintptr_t address, size_t size_bytes);

#endif
