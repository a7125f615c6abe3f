/* stream.c and event.c, for the rest of the driver. */
#ifndef SIM_STREAMS_H
#define SIM_STREAMS_H

#include "engine.h"

/* The stream behind a handle; 0 stands for dflt, and the two default streams belong to the
 * current context and are made at first use. INVALID_HANDLE, INVALID_CONTEXT or OUT_OF_MEMORY. */
CUresult sim_stream_resolve_locked(CUstream handle, CUstream dflt, CUstream *stream);

/* The legacy stream of a context: OUT_OF_MEMORY, or it. */
CUresult sim_stream_legacy_locked(CUcontext context, CUstream *stream);

/* Queues work: OUT_OF_MEMORY, or *seq (which may be NULL) is its place. */
CUresult sim_stream_work_locked(CUstream stream, const struct sim_work *work, uint64_t *seq);

CUresult sim_event_record_locked(CUevent event, CUstream stream);
/* An event of another process, whose file this is; NULL without memory. */
CUevent sim_event_open_locked(CUcontext context, int file);
/* Makes the stream wait for the event's most recent record. */
CUresult sim_event_wait_locked(CUevent event, CUstream stream);

/* The stream waits for all that the context's streams have been given; and all of these, and those
 * to come, wait for what the stream has. Nothing where the context is not valid. */
CUresult sim_context_precedes_locked(CUcontext context, CUstream stream);
CUresult sim_context_follows_locked(CUcontext context, CUstream stream);

/* What the stream has is, for the blocking streams of another context, as work of its legacy
 * stream.
 */
CUresult sim_context_meets_locked(CUcontext context, CUstream stream);

#endif
