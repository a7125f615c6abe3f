/*
 * What the simulated libcuda.so.1 offers the simulated libcupti.so.13 beyond CUDA's own names.
 *
 * Find it with dlsym(handle of libcuda.so.1, "sim_cuda_set_callback"). One callback for the whole
 * process; NULL removes it. It is called on the thread that made the driver call, once before the
 * function does anything (enter = 1, result = CUDA_SUCCESS) and once after it (enter = 0, result =
 * what the caller is about to get). A call that is already running when the callback changes
 * finishes with the callback it started with.
 *
 * The callback may call the driver itself; those calls are announced as well, so that guarding
 * against recursion is the callback's business. It holds no lock of the simulator.
 */
#ifndef SIM_HOOKS_H
#define SIM_HOOKS_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

/*
 * cbid:   the CUPTI_DRIVER_TRACE_CBID_* of exactly the symbol that was called, _v2 and _ptsz
 *         variants apart (cupti_driver_cbid.h).
 * symbol: that symbol's name, a string that lives as long as the library.
 * args:   the function's arguments as generated_cuda_meta.h lays them out, that is a
 *         `<symbol>_params *`; NULL for a function without arguments. Valid until the callback
 *         for enter = 0 returns; writing to it changes nothing.
 */
typedef void sim_callback(int enter, int cbid, const char *symbol, void *args, CUresult result);

typedef void sim_cuda_set_callback_fn(sim_callback *callback);

__attribute__((visibility("default"))) void sim_cuda_set_callback(sim_callback *callback);

/*
 * A second callback for what happens to resources, and for waits that have ended. The kinds have
 * the numbers that CUPTI gives them in its two domains (cupti_callbacks.h, which cannot be included
 * where cuda.h declares functions of all versions). Fields that an event does not have are NULL.
 * Called on the thread that caused it, within its driver call.
 */
enum sim_resource {
    SIM_CONTEXT_CREATED = 1,
    SIM_CONTEXT_ENDS = 2,
    SIM_STREAM_CREATED = 3,
    SIM_STREAM_ENDS = 4,
    SIM_MODULE_LOADED = 6,
    SIM_GRAPH_CREATED = 9,
    SIM_GRAPH_ENDS = 10,
    SIM_NODE_BEGINS = 12,
    SIM_NODE_CREATED = 13,
    SIM_NODE_ENDS = 14,
    SIM_EXEC_BEGINS = 17,
    SIM_EXEC_CREATED = 18,
    SIM_EXEC_ENDS = 19,
    SIM_NODE_CLONED = 20,
};

enum sim_wait { SIM_STREAM_WAITED_FOR = 1, SIM_CONTEXT_WAITED_FOR = 2 };

struct sim_event {
    enum sim_resource resource; /* or 0 */
    enum sim_wait wait;         /* or 0 */
    CUcontext context;
    CUstream stream;
    CUgraph graph, original_graph;
    CUgraphNode node, original_node;
    CUgraphNodeType node_type;
    CUgraphExec exec;
    const char *image; /* of a module, as the device has it */
    size_t image_bytes;
};

typedef void sim_event_callback(const struct sim_event *event);

typedef void sim_cuda_set_event_callback_fn(sim_event_callback *callback);

__attribute__((visibility("default"))) void
sim_cuda_set_event_callback(sim_event_callback *callback);

/*
 * What the device does, for activity records: dlsym "sim_cuda_set_activity"; NULL removes it. Both
 * must do little: `issued` runs on the thread that issues, under the simulator's lock, and what it
 * returns is kept with the operation (NULL: nobody wants to know more). `done` runs on the device's
 * thread without a lock, after the program can know that the operation is complete. `managed` runs
 * there too, before that, under a lock of managed memory's; NULL: nobody wants to know.
 */
enum sim_managed_kind { /* as CUPTI numbers them */
                        SIM_MANAGED_TO_DEVICE = 1,
                        SIM_MANAGED_TO_HOST = 2,
                        SIM_MANAGED_FAULT = 4,
                        SIM_MANAGED_THRASHING = 5,
                        SIM_MANAGED_BETWEEN = 8,
};

struct sim_managed {
    enum sim_managed_kind kind;
    uintptr_t address;
    size_t value;
    int from, to, is_eviction;
};

struct sim_activity {
    int is_memset;
    size_t bytes;
    int device;
    unsigned long long context_id, stream_id;
};

struct sim_activity_hooks {
    void *(*issued)(const struct sim_activity *activity);
    void (*done)(void *kept, uint64_t start_ns, uint64_t end_ns); /* CLOCK_MONOTONIC */
    void (*managed)(const struct sim_managed *what);
};

typedef void sim_cuda_set_activity_fn(const struct sim_activity_hooks *hooks);

__attribute__((visibility("default"))) void
sim_cuda_set_activity(const struct sim_activity_hooks *hooks);

#endif
