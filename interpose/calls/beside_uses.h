/* Tells the captures of the calling thread (capture/beside.h) what its copies, memsets and kernels
 * do with device memory: those that a capture takes, and those that run beside it.
 *
 * `is_detour`: a capture stood in the way of the call, which is reported already.
 *
 * Pre: sc_beside_needs_calls(), and the driver has accepted the call. Locks: none may be held.
 * errno is kept. Calls the driver about a kernel's parameters: not for a signal handler. */
#ifndef SC_INTERPOSE_CALLS_BESIDE_USES_H
#define SC_INTERPOSE_CALLS_BESIDE_USES_H

#include <stdbool.h>

struct sc_call;
struct sc_device_uses;
struct sc_graph_call;
struct sc_launch;
struct sc_stream_record;

/* Tells of a copy or memset that a capture has made a node of. Called on the thread that
 * captures. */
void sc_beside_uses_note_captured(const struct sc_graph_call *call,
                                  const struct sc_device_uses *uses);

/* Tells of a copy or memset that was issued on a stream that does not capture. `is_async`: by an
 * asynchronous call. */
void sc_beside_uses_note_issued(const struct sc_call *call, const struct sc_stream_record *stream,
                                const struct sc_device_uses *uses, bool is_async, bool is_detour);

/* Tells of a kernel that was launched: into a capture, or beside one. */
void sc_beside_uses_note_launched(const struct sc_call *call, const struct sc_launch *launch,
                                  bool is_detour);

#endif
