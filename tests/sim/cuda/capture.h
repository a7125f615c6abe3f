/*
 * Stream capture: which calls it turns into graph nodes, which it forbids, which break it.
 *
 * While nothing captures, all of this costs one comparison a call.
 */
#ifndef SIM_CAPTURE_H
#define SIM_CAPTURE_H

#include "graph.h"
#include "sim.h"

struct sim_capture {
    CUgraph graph;
    bool owns_graph; /* not begun by cuStreamBeginCaptureToGraph */
    bool invalidated;
    CUstreamCaptureMode mode;
    uint64_t thread; /* sim_thread.id of who began it */
    unsigned long long id;
    CUstream origin;
    CUstream streams; /* that take part, by next_captured */
    struct sim_capture *next;
};

extern struct sim_capture *sim_captures;

/* For calls that wait or allocate: 900, and every capture they endanger by the modes of the
 * captures and of the calling thread is invalidated. */
CUresult sim_capture_unsafe_locked(void);
/* In a call that is refused before the driver looks at what it is given. Takes the lock. */
#define SIM_REFUSED_IN_A_CAPTURE()                                                                 \
    do {                                                                                           \
        sim_lock();                                                                                \
        CUresult unsafe_ = sim_capture_unsafe_locked();                                            \
        sim_unlock();                                                                              \
        if (unsafe_ != CUDA_SUCCESS)                                                               \
            return unsafe_;                                                                        \
    } while (0)
/* The same of a call whose arguments are wrong, which the driver sees later: else INVALID_VALUE. An
 * invalid handle it sees first. Takes the lock. */
CUresult sim_capture_mistaken(void);
/* For calls that wait for all of a context: 900 in every mode. */
CUresult sim_capture_whole_locked(CUdevice device, CUcontext only);
/* For calls that wait for this stream, or ask about it: 900 in every mode if it captures. */
CUresult sim_capture_wait_locked(CUstream stream);
/* For calls that ask for the flags or the id of a stream: 900 if it captures, and the capture is
 * broken; 906 for a legacy stream beside a capturing blocking one. */
CUresult sim_capture_ask_locked(CUstream stream);
/* For events: 907 if it was captured, else as unsafe. */
CUresult sim_capture_event_locked(CUevent event);

/*
 * Resolves a handle (0 stands for dflt) for a call that puts work into it: 906 for a legacy
 * stream while a blocking stream of its context captures, 901 for a stream whose capture is
 * broken. *stream->capture says whether the work becomes a node.
 */
CUresult sim_stream_enter_locked(CUstream handle, CUstream dflt, CUstream *stream);

/* Adds the work as a node behind the capturing stream's dependencies. */
CUresult sim_capture_add_locked(CUstream stream, CUgraphNodeType type, const struct sim_work *work,
                                CUgraphNode *node);
/* An external event: its record or wait is a node, and the event no part of the capture. */
CUresult sim_capture_event_node_locked(CUstream stream, CUgraphNodeType type, CUevent event);
/* Adds nodes to the stream's dependencies, or replaces them. */
CUresult sim_capture_set_deps_locked(CUstream stream, const CUgraphNode *deps, size_t count,
                                     bool add);
/* cuEventRecord and cuStreamWaitEvent with a captured stream or event. */
CUresult sim_capture_record_locked(CUstream stream, CUevent event);
CUresult sim_capture_join_locked(CUstream stream, CUevent event);
void sim_capture_forget_event_locked(CUevent event);
/* Takes a stream that is being destroyed out of its capture, which becomes invalid. */
void sim_capture_drop_stream_locked(CUstream stream);

#endif
