/* What ran beside a capture, and what the graph that was captured lacks by it (SC305).
 *
 * While a thread captures, it may also issue work that no capture takes. That work runs at once,
 * and no launch of the graph repeats it. It is called left out where it has to do with captured
 * work of the same capture:
 *
 *     a copy or memset writes memory       that a captured copy reads, or that a captured kernel
 *                                          has the address of
 *     a copy reads memory                  that a copy or memset captured earlier writes
 *     a kernel has an address in memory    that a copy or memset captured earlier writes, or that a
 *                                          copy to the host captured later reads
 *
 * What the graph does as well is not left out: an operation of the same direction on the same
 * bytes, the same kernel with the same address, or another kernel with the same addresses, two at
 * least. Such are a first upload, where the graph uploads for its next launch; work that is run
 * once to warm up; kernels that are tried one after the other.
 *
 * Captured work that reads what other captured work has written before sees that work's bytes in
 * each launch, and nothing that ran beside. The same holds from the second launch on where a
 * captured copy or memset writes there behind it: the graph hands a state on to its next launch.
 * Work beside the capture that reads what other work beside it has written sees those bytes. Memory
 * that was allocated since the capture began is being set up, and does not count. A kernel may
 * write from each of its addresses on, up to the end of the allocation, and so speaks for what lies
 * there. What a kernel whose parameters are not known may write is not held against anything.
 *
 * The order is that of the calls of one thread: what other threads capture into the same graph, or
 * write beside it, is not known.
 *
 * Plain data in pages of its own, which are bounded: what does not fit is counted, and so is all
 * that comes after it. Locks: none; the caller's lock guards every call.
 */
#ifndef SC_TRACK_LEFT_OUT_H
#define SC_TRACK_LEFT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_device_use;
struct sc_graph_write;

enum {
    SC_LEFT_OUT_CAPTURED_MAX = 8192, /* captured operations */
    SC_LEFT_OUT_NODE_USES_MAX = 32768,
    SC_LEFT_OUT_SITES_MAX = 64, /* stacks of work beside the capture */
    SC_LEFT_OUT_USES_MAX = 4096,
    SC_LEFT_OUT_ALLOCATIONS_MAX = 1024,
};

/* An operation. `names`: of a kernel, what may be addresses among its parameters. */
struct sc_left_out_op {
    unsigned use_count, name_count;
    const struct sc_device_use *uses;
    const uintptr_t *names;
    uintptr_t function;   /* the kernel's; 0: it is none */
    bool is_partly_known; /* it may do more with memory than this */
};

/* What it does, one by one. */
static inline unsigned sc_left_out_count(const struct sc_left_out_op *op)
{
    return op->use_count + op->name_count;
}
struct sc_device_use sc_left_out_use(const struct sc_left_out_op *op, unsigned i);

struct sc_hazard;
struct sc_hazard_copy;
struct sc_left_out;

/* NULL: there is no memory. */
struct sc_left_out *sc_left_out_new(void);
/* As new. */
void sc_left_out_clear(struct sc_left_out *left_out);
void sc_left_out_free(struct sc_left_out *left_out); /* NULL: nothing happens */

/* An operation was captured. `what`: as hazards tell of it, without address and size. */
void sc_left_out_captured(struct sc_left_out *left_out, const struct sc_hazard_copy *what,
                          const struct sc_left_out_op *op);

/* An operation ran beside the capture. `what`: a hazard of which the event and what belongs to it
 * are known. Only the first of operations with the same stack and the same reason to be ignored is
 * told.
 */
void sc_left_out_beside(struct sc_left_out *left_out, const struct sc_hazard *what,
                        const struct sc_left_out_op *op);

/* Memory was allocated: what was used there before was other memory. */
void sc_left_out_allocated(struct sc_left_out *left_out, uintptr_t address, size_t size_bytes);

/* A capture of the same thread's was open already when this one began: what was allocated since
 * that began counts here, too. */
void sc_left_out_share(struct sc_left_out *left_out, const struct sc_left_out *outer);

/* Work that was left out, and the first captured operation that it has to do with. `captured` is
 * NULL where the work writes memory that no captured operation uses: what it leaves there may be
 * meant for once, or for each launch. Of a kernel it is not known whether it writes there. */
struct sc_left_out_finding {
    const struct sc_hazard *beside;
    const struct sc_device_use *use; /* of the work beside the capture */
    const struct sc_hazard_copy *captured;
    const struct sc_device_use *captured_use;
    bool is_further; /* another one of the stack came before it */
    bool is_met;     /* the thread's later work beside the capture may use the memory */
};

/* Where the allocation begins that the address lies in; the address itself where nobody knows. */
typedef uintptr_t sc_left_out_base(uintptr_t address);

/* Calls visit for each stack of which an operation was left out: of its first such operation. Where
 * there is none, of all those of which nobody can tell. */
typedef void sc_left_out_visit(void *context, const struct sc_left_out_finding *finding);
void sc_left_out_each(struct sc_left_out *left_out, sc_left_out_base *base_of,
                      sc_left_out_visit *visit, void *context);

/* What launches of the graph may write, if it has so many nodes. False: that is not known, as where
 * another thread has captured into the graph. */
bool sc_left_out_writes(const struct sc_left_out *left_out, size_t node_count,
                        struct sc_graph_write *write);

/* Operations that did not fit. */
uint64_t sc_left_out_unknown(const struct sc_left_out *left_out);

#endif
