/* Stream capture; docs/driver.md has the table that these rules reproduce. */
#include "capture.h"

#include "announce.h"
#include "api.h"
#include "copy.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>

struct sim_capture *sim_captures;

static struct sim_slab captures = {sizeof(struct sim_capture) + sizeof(void *), NULL};

static bool endangered(const struct sim_capture *c)
{
    if (c->thread == sim_thread.id)
        return c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           sim_thread.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult sim_capture_unsafe_locked(void)
{
    CUresult result = CUDA_SUCCESS;
    if (!sim_captures || sim_thread.capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return result;
    for (struct sim_capture *c = sim_captures; c; c = c->next) {
        if (endangered(c)) {
            c->invalidated = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return result;
}

CUresult sim_capture_mistaken(void)
{
    sim_lock();
    CUresult unsafe = sim_capture_unsafe_locked();
    sim_unlock();
    return unsafe ? unsafe : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_capture_whole_locked(CUdevice device, CUcontext only)
{
    CUresult result = CUDA_SUCCESS;
    for (struct sim_capture *c = sim_captures; c; c = c->next) {
        CUcontext context = c->origin->context;
        if (only ? context == only : context->device == device) {
            c->invalidated = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return result;
}

/* 906 if work in the legacy stream would have to wait for a capture. */
static CUresult legacy_conflict_locked(CUcontext context, bool invalidate)
{
    CUresult result = CUDA_SUCCESS;
    for (struct sim_capture *c = sim_captures; c; c = c->next) {
        for (CUstream s = c->streams; s; s = s->next_captured) {
            if (s->blocking && s->context == context) {
                c->invalidated = c->invalidated || invalidate;
                result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
            }
        }
    }
    return result;
}

CUresult sim_capture_ask_locked(CUstream stream)
{
    if (stream->capture) {
        stream->capture->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return stream->legacy ? legacy_conflict_locked(stream->context, true) : CUDA_SUCCESS;
}

CUresult sim_capture_wait_locked(CUstream stream)
{
    if (!sim_captures)
        return CUDA_SUCCESS;
    CUresult result = sim_capture_ask_locked(stream);
    return result ? result : sim_capture_unsafe_locked();
}

static bool live(CUevent event)
{
    return event->capture && event->capture->id == event->capture_id;
}

CUresult sim_capture_event_locked(CUevent event)
{
    if (sim_fault)
        return sim_fault;
    if (!event->capture)
        return sim_capture_unsafe_locked();
    if (!live(event))
        return CUDA_ERROR_INVALID_VALUE; /* its capture is over */
    event->capture->invalidated = true;
    return CUDA_ERROR_CAPTURED_EVENT;
}

CUresult sim_stream_enter_locked(CUstream handle, CUstream dflt, CUstream *stream)
{
    CUresult result = sim_stream_resolve_locked(handle, dflt, stream);
    if (result != CUDA_SUCCESS || !sim_captures)
        return result;
    if ((*stream)->capture && (*stream)->capture->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return (*stream)->legacy ? legacy_conflict_locked((*stream)->context, true) : CUDA_SUCCESS;
}

static bool contains(CUgraphNode const *nodes, size_t count, CUgraphNode node)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i] == node)
            return true;
    return false;
}

CUresult sim_capture_set_deps_locked(CUstream stream, const CUgraphNode *deps, size_t count,
                                     bool add)
{
    size_t old = add ? stream->capture_dep_count : 0;
    CUgraphNode *room = calloc(old + count + 1, sizeof *room);
    if (!room)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (old)
        memcpy(room, stream->capture_deps, old * sizeof *room);
    for (size_t i = 0; i < count; i++)
        if (!contains(room, old, deps[i]))
            room[old++] = deps[i];
    free(stream->capture_deps);
    stream->capture_deps = room;
    stream->capture_dep_count = old;
    return CUDA_SUCCESS;
}

CUresult sim_capture_add_locked(CUstream stream, CUgraphNodeType type, const struct sim_work *work,
                                CUgraphNode *node)
{
    CUgraphNode added = sim_graph_add_locked(stream->capture->graph, type, stream->capture_deps,
                                             stream->capture_dep_count);
    if (!added)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (work) {
        added->work = *work;
        if (work->kind == WORK_COPY)
            sim_copy_keep_kinds_locked(&added->work.copy);
        sim_node_describe_locked(added);
    }
    if (node)
        *node = added;
    return sim_capture_set_deps_locked(stream, &added, 1, false);
}

CUresult sim_capture_event_node_locked(CUstream stream, CUgraphNodeType type, CUevent event)
{
    CUgraphNode node;
    CUresult result = sim_capture_add_locked(stream, type, NULL, &node);
    if (result == CUDA_SUCCESS)
        node->params.event = event;
    return result;
}

void sim_capture_forget_event_locked(CUevent event)
{
    free(event->capture_deps);
    event->capture_deps = NULL;
    event->capture_dep_count = 0;
    event->capture = NULL;
}

CUresult sim_capture_record_locked(CUstream stream, CUevent event)
{
    size_t count = stream->capture_dep_count;
    CUgraphNode *deps = calloc(count + 1, sizeof *deps);
    if (!deps)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (count)
        memcpy(deps, stream->capture_deps, count * sizeof *deps);
    sim_capture_forget_event_locked(event);
    event->capture = stream->capture;
    event->capture_id = stream->capture->id;
    event->capture_deps = deps;
    event->capture_dep_count = count;
    return CUDA_SUCCESS;
}

static void enlist_locked(struct sim_capture *capture, CUstream stream)
{
    stream->capture = capture;
    stream->next_captured = capture->streams;
    capture->streams = stream;
}

CUresult sim_capture_join_locked(CUstream stream, CUevent event)
{
    if (event->capture && !live(event))
        return CUDA_ERROR_INVALID_VALUE;
    if (!event->capture) {
        if (!event->record)
            return CUDA_SUCCESS;
        stream->capture->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    struct sim_capture *capture = event->capture;
    if (capture->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->capture ? stream->capture != capture : stream->legacy) {
        capture->invalidated = true;
        if (!stream->capture)
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        stream->capture->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!stream->capture)
        enlist_locked(capture, stream);
    return sim_capture_set_deps_locked(stream, event->capture_deps, event->capture_dep_count, true);
}

static CUresult begin(CUstream dflt, CUstream handle, CUgraph graph, const CUgraphNode *deps,
                      size_t count, CUstreamCaptureMode mode)
{
    static unsigned long long ids;
    CUstream stream;
    struct sim_capture *capture = NULL;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    sim_thread_register();
    sim_lock();
    CUresult result = sim_stream_resolve_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS && stream->legacy && !stream->context->green)
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    else if (result == CUDA_SUCCESS && stream->capture)
        result = CUDA_ERROR_ILLEGAL_STATE;
    if (result == CUDA_SUCCESS) {
        capture = sim_slab_take_locked(&captures);
        result = capture ? sim_capture_set_deps_locked(stream, deps, count, false)
                         : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS) {
        *capture = (struct sim_capture){
            .graph = graph ? graph : sim_graph_new_locked(),
            .owns_graph = !graph,
            .mode = mode,
            .thread = sim_thread.id,
            .id = ++ids,
            .origin = stream,
            .next = sim_captures,
        };
        sim_captures = capture;
        enlist_locked(capture, stream);
    }
    sim_unlock();
    return result;
}

SIM_API_PTSZ(cuStreamBeginCapture, (CUstream hStream), hStream)
{
    return begin(dflt, hStream, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

SIM_API_PTSZ(cuStreamBeginCapture_v2, (CUstream hStream, CUstreamCaptureMode mode), hStream, mode)
{
    return begin(dflt, hStream, NULL, NULL, 0, mode);
}

SIM_API_PTSZ(cuStreamBeginCaptureToGraph,
             (CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
              const CUgraphEdgeData *dependencyData, size_t numDependencies,
              CUstreamCaptureMode mode),
             hStream, hGraph, dependencies, dependencyData, numDependencies, mode)
{
    (void)dependencyData;
    if (!hGraph || hGraph->magic != MAGIC_GRAPH || (numDependencies && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    return begin(dflt, hStream, hGraph, dependencies, numDependencies, mode);
}

/* Marks the nodes and all that they depend on. `room` holds as many nodes as the graph has. */
static void mark_ancestors(const CUgraphNode *nodes, size_t count, CUgraphNode *room)
{
    size_t waiting = 0;
    for (;;) {
        for (size_t i = 0; i < count; i++) {
            if (!nodes[i]->visited) {
                nodes[i]->visited = true;
                room[waiting++] = nodes[i];
            }
        }
        if (waiting == 0)
            return;
        CUgraphNode next = room[--waiting];
        nodes = next->deps;
        count = next->dep_count;
    }
}

/* Whether all work of all streams has been joined back into the origin. */
static bool joined_locked(const struct sim_capture *capture)
{
    CUstream origin = capture->origin;
    CUgraphNode *room = calloc(capture->graph->count + 1, sizeof *room);
    bool joined = room != NULL;
    for (CUgraphNode n = capture->graph->first; n; n = n->next)
        n->visited = false;
    if (room)
        mark_ancestors(origin->capture_deps, origin->capture_dep_count, room);
    for (CUstream s = capture->streams; s; s = s->next_captured)
        for (size_t i = 0; i < s->capture_dep_count; i++)
            joined = joined && s->capture_deps[i]->visited;
    free(room);
    return joined;
}

static void release_locked(struct sim_capture *capture)
{
    for (CUstream s = capture->streams, next; s; s = next) {
        next = s->next_captured;
        s->capture = NULL;
        s->next_captured = NULL;
        s->capture_dep_count = 0;
    }
    for (struct sim_capture **at = &sim_captures; *at; at = &(*at)->next) {
        if (*at == capture) {
            *at = capture->next;
            break;
        }
    }
    capture->id = 0;
    sim_slab_give_locked(&captures, capture);
}

static CUresult end_locked(CUstream stream, CUgraph *graph)
{
    struct sim_capture *capture = stream->capture;
    CUresult result = CUDA_SUCCESS;
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    bool foreign =
        capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != sim_thread.id;
    if (capture->origin != stream) {
        capture->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (foreign)
        result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD; /* and the capture is over */
    else if (capture->invalidated)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!joined_locked(capture))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *graph = result == CUDA_SUCCESS ? capture->graph : NULL;
    if (result != CUDA_SUCCESS && capture->owns_graph) {
        sim_announce_end_of_graph_locked(capture->graph);
        sim_graph_free_locked(capture->graph);
    }
    release_locked(capture);
    return result;
}

SIM_API_PTSZ(cuStreamEndCapture, (CUstream hStream, CUgraph *phGraph), hStream, phGraph)
{
    CUstream stream;
    CUgraph graph = NULL;
    sim_lock();
    CUresult result = sim_stream_resolve_locked(hStream, dflt, &stream);
    if (result == CUDA_SUCCESS)
        result = end_locked(stream, &graph);
    sim_unlock();
    if (phGraph)
        *phGraph = graph;
    return result;
}

void sim_capture_drop_stream_locked(CUstream stream)
{
    struct sim_capture *capture = stream->capture;
    capture->invalidated = true;
    if (capture->origin == stream) {
        if (capture->owns_graph) {
            sim_announce_end_of_graph_locked(capture->graph);
            sim_graph_free_locked(capture->graph);
        }
        release_locked(capture);
        return;
    }
    for (CUstream *at = &capture->streams; *at; at = &(*at)->next_captured) {
        if (*at == stream) {
            *at = stream->next_captured;
            break;
        }
    }
    stream->capture = NULL;
}
