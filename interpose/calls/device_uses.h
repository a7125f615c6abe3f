/* What a call does with device memory: held against what other streams do there (SC501, SC502).
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
 * signal handler.
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

/* How a call is put behind what it would race with. A call that blocks the host waits before it is
 * made, at most stall_limit: an edge in its stream would last as long as what it waits for, which
 * may wait for the program. */
enum sc_device_healing { SC_HEALED_BY_EDGE, SC_HEALED_BY_WAIT, SC_NOT_HEALED };

/* Before the call, which is about to be made on the stream. */
void sc_device_uses_judge(const struct sc_device_uses *uses, const struct sc_call *call,
                          struct sc_stream_record *stream, enum sc_device_healing healing);

/* The same for any number of uses. `after`: what the call comes after as well, or NULL. */
void sc_device_uses_judge_all(const struct sc_device_use *uses, unsigned count,
                              const struct sc_call *call, struct sc_stream_record *stream,
                              enum sc_device_healing healing, const struct sc_point *after);

/* Before the call, which frees memory of a pool at once and waits for nothing: it is made to wait.
 */
void sc_device_uses_judge_free(const struct sc_call *call, const struct sc_allocation *allocation);

/* Before the call, which frees memory in the stream's order. */
void sc_device_uses_judge_ordered_free(const struct sc_call *call, struct sc_stream_record *stream,
                                       const struct sc_allocation *allocation);

/* The driver has accepted the call, which has at least one use. `place`: of the call, in a legacy
 * stream, or 0. */
void sc_device_uses_note(const struct sc_device_uses *uses, const struct sc_call *call,
                         struct sc_stream_record *stream, uint64_t place);

/* Stack, time and thread of a call that the driver has just accepted, for all of its uses. */
struct sc_op_info sc_device_uses_moment(const struct sc_call *call,
                                        const struct sc_stream_record *stream, uint64_t place);

/* Gives the operation the ticket, stack, time and thread of such a moment. */
void sc_device_uses_set_moment(struct sc_op_info *info, const struct sc_op_info *moment);

/* As sc_device_uses_note for one or more uses, beside the call's operation on host memory, which
 * was recorded, or at such a moment: ticket, stack, time and thread are those of `op`, and they may
 * wait unseen if `op` may. Returns the ticket that they have, for further uses of the same call.
 * Callers that have many read so many at a time. */
enum { SC_DEVICE_USES_AT_ONCE = 16 };
struct sc_ticket sc_device_uses_note_all(const struct sc_device_use *uses, unsigned count,
                                         const struct sc_call *call,
                                         struct sc_stream_record *stream,
                                         const struct sc_op_info *op);

/* The driver has accepted the free of the memory in the stream's order. */
void sc_device_uses_note_ordered_free(const struct sc_call *call, struct sc_stream_record *stream,
                                      const struct sc_allocation *allocation);

/* The call has handed out memory in the stream's order. */
void sc_device_uses_allocated(const struct sc_call *call, struct sc_stream_record *stream,
                              uintptr_t address, size_t size_bytes);

#endif
