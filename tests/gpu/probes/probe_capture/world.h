/* What the questions of probe_capture.c find, and what they make: memory, captures, graphs. */
#ifndef TESTS_GPU_PROBE_CAPTURE_WORLD_H
#define TESTS_GPU_PROBE_CAPTURE_WORLD_H

#include "../../asking.h"

#include <stdatomic.h>

#define BUSY_MS 100
#define BUFFER_BYTES (64 * MB) /* of dev_a and dev_b */
#define AT_ONCE_MS 20

extern CUfunction spin_kernel;
extern CUstream blocking, blocking2, nonblocking, nonblocking2;
extern CUdeviceptr dev_a, dev_b;
extern CUevent event, event2;

void occupy(CUstream stream, unsigned ms);

/* Tells a time, and that it is longer than AT_ONCE_MS. */
void say_took(double ms);

/* Memory of the three kinds: NULL when there is none. */
enum kind { PAGEABLE, PINNED, REGISTERED, KINDS };
extern const char *const kind_names[KINDS];
unsigned char *take(enum kind kind, size_t size_bytes);
void give(enum kind kind, unsigned char *p, size_t size_bytes);

/* The one value that all bytes have, or -1. */
int value_of(const unsigned char *bytes, size_t size_bytes);
int device_value(CUdeviceptr at, size_t size_bytes);

/* Begins a capture with a node in it, a memset. */
CUresult begin_capture(CUstream stream, CUstreamCaptureMode mode);

/* Ends the capture and throws its graph away; *nodes says how many nodes that had. */
CUresult drop_capture(CUstream stream, size_t *nodes);

/* Ends the capture of `stream`; NULL, and a word in the line, when it fails. */
CUgraph end_capture(CUstream stream);

/* Gives this thread another mode, and returns the one it had. */
CUstreamCaptureMode exchange(CUstreamCaptureMode mode);

CUgraphExec instantiate(CUgraph graph);
void throw_away(CUgraphExec exec, CUgraph graph);
CUgraphNode only_node(CUgraph graph);

/* One copy between host and device: its parameters, a graph that captured it, and one that had it
 * added; and a graph of one kernel. */
CUDA_MEMCPY3D flat_copy(bool to_device, unsigned char *host, CUdeviceptr dev, size_t bytes);
CUgraph captured_copy(bool to_device, unsigned char *host, CUdeviceptr dev, size_t bytes);
CUgraph added_copy(bool to_device, unsigned char *host, CUdeviceptr dev, size_t bytes);
CUgraph spinning_graph(unsigned ms);

/* A host function for cuLaunchHostFunc, and how often it ran. */
extern atomic_uint host_runs;
void CUDA_CB count_run(void *unused);

/* The questions. */
void q1(void), q2(void), q3(void), q4(void), q5(void), q6(void), q7(void), q8(void), q9(void),
    q10(void), q11(void);

#endif
