/*
 * The simulated driver's state, its one lock, and the objects behind CUDA's opaque handles.
 *
 * One lock guards everything but memory contents and the few atomics named below. `_locked`
 * functions need it held; those that wait drop it and take it again, and say so. No user code
 * (host functions, hook callbacks) ever runs under it.
 */
#ifndef SIM_H
#define SIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

/* Makes cuda.h declare every exported symbol, old ones included, under its own name. */
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL 1
#endif
#pragma GCC visibility push(default)
#include <cuda.h>
#include <cudaProfiler.h>
#pragma GCC visibility pop

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MAX_DEVICES 8
#define SIM_DRIVER_VERSION 13000 /* unless SIM_GPU says otherwise */
/* CUDA 13.5 has nodes for batch copies. That a capture makes them is assumed, not measured. */
#define SIM_TAKES_BATCHES 13050

/* ---- options.c: SIM_GPU, read once by cuInit; see ../README.md ---- */
struct sim_options {
    int devices;
    bool visible;
    int places[SIM_MAX_DEVICES]; /* the number that each device has in the machine */
    uint64_t delay_ns;
    bool late;
    uint64_t late_limit_ns;
    uint64_t seed;
    uint64_t kernel_ns;
    uint64_t aside_ns;
    bool pageable_access;
    bool managed_apart;
    uint64_t bandwidth;            /* bytes a second; 0 is infinite */
    uint64_t launch_ns, return_ns; /* of a graph: before it is queued, and after */
    uint64_t retain_ns;            /* of a primary context, before it is there */
    bool late_batch;
    uint64_t region;                         /* a power of two; 0: as much as there is room for */
    uint64_t device_memory[SIM_MAX_DEVICES]; /* bytes that each has */
    uint64_t host_memory;                    /* bytes that may be pinned; 0: any */
    uint64_t others_memory;                  /* bytes that another process has of each device */
    int driver;                              /* the CUDA version that the driver is for */
};
#define SIM_DEVICE_MEMORY ((size_t)8 << 30) /* unless SIM_GPU says otherwise */
#define SIM_REGION_MIN ((size_t)64 << 20)
extern struct sim_options sim_options;
void sim_options_read(void);
/* The device with this number in the machine; -1: it is not visible. */
int sim_device_at(int place);
/* What SIM_GPU says of the version: the one thing that is asked for before cuInit, too. */
int sim_options_driver(void);
int sim_driver_version(void);

/* ---- state.c: start, fork, exit ---- */
enum sim_state { SIM_UNTOUCHED, SIM_READY, SIM_FORKED, SIM_EXITED };
extern _Atomic int sim_state;

void sim_lock(void);
void sim_unlock(void);
uint64_t sim_now_ns(void);

/* Other threads call meanwhile, and the device works. */
void sim_last_ns(uint64_t ns);

CUresult sim_gate_refusal(int state);

/* Per thread. `callback` is set while the thread runs a host function. */
struct sim_thread {
    CUcontext *stack;
    unsigned depth, capacity;
    bool callback, registered;
    bool announces; /* events are noted that are to be delivered (announce.h) */
    CUstreamCaptureMode capture_mode;
    uint64_t id;
    CUstream default_streams; /* linked by next_of_thread */
};
extern __thread struct sim_thread sim_thread __attribute__((tls_model("initial-exec")));
/* Gives the thread its id and arranges for its default streams to be dropped when it ends. */
void sim_thread_register(void);

static inline CUresult sim_gate(void)
{
    int state = atomic_load_explicit(&sim_state, memory_order_acquire);
    if (__builtin_expect(state == SIM_READY && !sim_thread.callback, 1))
        return CUDA_SUCCESS;
    return sim_gate_refusal(state);
}

/* ---- handles ---- */
enum sim_magic {
    MAGIC_CONTEXT = 0x53430001,
    MAGIC_STREAM,
    MAGIC_EVENT,
    MAGIC_GRAPH,
    MAGIC_EXEC,
    MAGIC_MODULE,
    MAGIC_POOL,
    MAGIC_ARRAY,
    MAGIC_USER_OBJECT,
    MAGIC_SEMAPHORE,
    MAGIC_MIPMAPS,
    MAGIC_EXTERNAL,
};

/* A point in a stream's work: reached once the stream's `done` is at least seq. */
struct sim_fence {
    CUstream stream; /* counted in stream->refs */
    uint64_t seq;
};

struct CUctx_st {
    uint32_t magic;
    CUdevice device;
    bool primary, green;
    bool detached;     /* green: it has ended */
    bool ending;       /* its destruction waits for its work */
    unsigned retained; /* primary: how often */
    unsigned flags;
    unsigned long long id;
    struct CUctx_st *next;
    CUstream streams;            /* all of them, destroyed ones with work left included */
    CUstream legacy;             /* made at first use */
    CUstream gate;               /* what next operations wait for (cuCtxWaitEvent), or NULL */
    struct sim_fence serialized; /* the last copy that it is in order with, or no stream */
    uint64_t blocking_issues;    /* operations issued to blocking streams, ever */
    unsigned captures;           /* streams capturing now */
    size_t limits[CU_LIMIT_MAX];
    bool heap_is_fixed, printf_is_fixed; /* a kernel that uses them was launched */
};

enum stream_state {
    STREAM_IDLE,    /* no operation queued */
    STREAM_TIMED,   /* in the engine's heap: the first operation may start at ready_ns */
    STREAM_BLOCKED, /* the first operation waits for another stream */
    STREAM_RUNNING, /* the engine or a host function thread has it */
};

struct CUstream_st {
    uint32_t magic; /* 0 once destroyed */
    unsigned flags;
    int priority;
    bool legacy, per_thread, blocking;
    unsigned refs; /* handle, queue, fences, records */
    unsigned long long id;
    CUcontext context;
    CUstream next, prev; /* in context->streams */
    CUstream next_of_thread;

    struct sim_op *head, *tail;
    uint64_t issued;
    _Atomic uint64_t done;
    _Atomic uint32_t waiters, epoch; /* threads asleep until `done` moves */
    enum stream_state state;
    unsigned heap_index;
    uint64_t ready_ns;
    uint64_t forced;           /* late=1: operations up to here are wanted now */
    uint64_t legacy_seen;      /* the legacy operation that this stream last waited for */
    uint64_t waited_for;       /* legacy: the last one that blocking streams wait for */
    uint64_t blocking_seen;    /* legacy stream: context->blocking_issues at its last join */
    CUstream dependents;       /* streams blocked on this one */
    CUstream next_dependent;   /* this one's place in such a list */
    uint64_t dependents_least; /* least seq that any of them waits for */
    struct sim_fence blocked_on;

    struct sim_capture *capture;
    CUgraphNode *capture_deps;
    size_t capture_dep_count;
    CUstream next_captured;
    void *link;
};

/* One cuEventRecord: where in which stream, and when it was reached. */
struct sim_record {
    struct sim_fence fence;
    unsigned refs; /* event, operation */
    _Atomic uint64_t time_ns;
    struct sim_shared_event *shared; /* tells other processes, that of this number */
    uint64_t number;
    void *link;
};

/* In a file of shared memory, which each process that has the event maps for good. */
struct sim_shared_event {
    _Atomic uint64_t recorded, reached; /* how often */
};

struct CUevent_st {
    uint32_t magic;
    unsigned flags;
    struct sim_shared_event *shared; /* NULL: it is not for other processes */
    int file;                        /* of that */
    CUcontext context;
    struct sim_record *record; /* the most recent one, NULL before the first */
    /* Set when the most recent record was captured; the capture may be over since, and its memory
     * another capture's. */
    struct sim_capture *capture;
    unsigned long long capture_id;
    CUgraphNode *capture_deps;
    size_t capture_dep_count;
    void *link; /* of the slab's list */
};

/* ---- context.c ---- */
extern CUcontext sim_contexts;
CUcontext sim_context_current(void);
bool sim_context_valid_locked(CUcontext context);

/* What a kernel has failed with: most calls return it from then on. */
extern _Atomic(CUresult) sim_fault;
/* The device's primary context if it is active, else NULL. */
CUcontext sim_context_primary_locked(CUdevice device);
/* The context itself or, of a green one, the primary one that it is part of. */
CUcontext sim_context_home_locked(CUcontext context);
/* What a call is refused with where the context has ended and left its streams behind. */
CUresult sim_context_state(CUcontext context);
/* Another thread destroys it, or has: drivers die of that, and so does the program. */
void sim_context_use_locked(CUcontext context, const char *call);

/* ---- limits.c ---- */
void sim_limits_begin(CUcontext context);

/* ---- slab.c: memory that is reused for its own kind and never returned ---- */
struct sim_slab {
    size_t size;
    void *free;
};
void *sim_slab_take_locked(struct sim_slab *slab); /* zeroed; NULL without memory */
void sim_slab_give_locked(struct sim_slab *slab, void *object);

#endif
