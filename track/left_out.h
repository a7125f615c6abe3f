/* Finds work that ran beside a capture and that the captured graph lacks (SC305).
 *
 * While a thread captures, it may also issue work that no capture takes. That work is beside the
 * capture: it runs at once, and no launch of the graph repeats it. It is called left out of the
 * graph if it uses memory that captured work of the same capture uses, in one of these ways:
 *
 *     a copy or memset writes memory       that a captured copy reads, or that a captured kernel
 *                                          has the address of
 *     a copy reads memory                  that a copy or memset captured earlier writes
 *     a kernel has an address in memory    that a copy or memset captured earlier writes, or that a
 *                                          copy to the host captured later reads
 *
 * Work that the graph does as well is not left out. The graph does the same if it has an operation
 * of the same direction on the same bytes, the same kernel with the same address, or another kernel
 * with the same two or more addresses. Examples are a first upload, where the graph uploads for its
 * next launch; work that is run once to warm up; kernels that are tried in turn.
 *
 * Captured work that reads what earlier captured work has written sees that work's bytes in each
 * launch, and nothing that ran beside. The same holds from the second launch on if a captured copy
 * or memset writes there after it: the graph hands a state on to its next launch. Work beside the
 * capture that reads what other work beside it has written sees those bytes. Memory that was
 * allocated since the capture began is being set up, and does not count. A kernel may write from
 * each of its addresses on, up to the end of the allocation, and so counts as a writer of what lies
 * there. Nothing is concluded from what a kernel with unknown parameters may write.
 *
 * The order is that of the calls of one thread. What other threads capture into the same graph, or
 * write beside it, is not known.
 *
 * Plain data in pages of its own, which are bounded: what does not fit is counted, and so is all
 * that comes after it. Locks: none; the caller's lock guards every call. */

/* Terms (docs/glossary.md):
 *   beside: of work: issued by the capturing thread during a capture, and run at once
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   left out: of work beside a capture: the graph needs it and lacks it
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   upload: a small simple copy to the device, of which the device reads a snapshot
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
    /* how many call stacks of work beside the capture (issued meanwhile, and run at once) are kept
     */
    SC_LEFT_OUT_SITES_MAX = 64,
    SC_LEFT_OUT_USES_MAX = 4096,
    SC_LEFT_OUT_ALLOCATIONS_MAX = 1024,
};

/* What an operation, captured or beside the capture (issued meanwhile by the same thread, and run
 * at once), does with device memory. `names`: the words among a kernel's parameters that may be
 * addresses. */
struct sc_left_out_op {
    unsigned use_count, name_count;
    const struct sc_device_use *uses;
    const uintptr_t *names;
    uintptr_t function;   /* the kernel's function; 0: the operation is no kernel */
    bool is_partly_known; /* it may use more memory than listed here */
};

/* sc_left_out_count returns how many uses and names the operation has together. sc_left_out_use
 * returns the one with index `i`; a name is returned as a use with access SC_DEVICE_NAMES. */
static inline unsigned sc_left_out_count(const struct sc_left_out_op *op)
{
    return op->use_count + op->name_count;
}
struct sc_device_use sc_left_out_use(const struct sc_left_out_op *op, unsigned i);

struct sc_hazard;
struct sc_hazard_copy;
struct sc_left_out;

/* Makes the record of one capture; NULL: no memory. */
struct sc_left_out *sc_left_out_new(void);
/* Empties the record. */
void sc_left_out_clear(struct sc_left_out *left_out);
void sc_left_out_free(struct sc_left_out *left_out); /* NULL does nothing */

/* Notes a captured operation. `what`: how a report describes it, without address and size. */
void sc_left_out_note_captured(struct sc_left_out *left_out, const struct sc_hazard_copy *what,
                               const struct sc_left_out_op *op);

/* Notes an operation that ran beside the capture. `what`: a hazard whose event is filled in, to be
 * reported if the operation turns out to be left out. Of several operations with the same stack
 * (and, if ignored, the same reason) only the first one's `what` is kept. */
void sc_left_out_note_beside(struct sc_left_out *left_out, const struct sc_hazard *what,
                             const struct sc_left_out_op *op);

/* Notes that memory at these addresses was allocated: earlier uses of these addresses were of other
 * memory, and later ones set new memory up, which no launch has to repeat. */
void sc_left_out_note_allocated(struct sc_left_out *left_out, uintptr_t address, size_t size_bytes);

/* Takes over the allocations that were noted since `outer` began: another capture of the same
 * thread that was already open when this one began. */
void sc_left_out_share_allocations(struct sc_left_out *left_out, const struct sc_left_out *outer);

/* An operation that was left out of the graph, and the first captured operation that uses the same
 * memory. `captured` NULL: no captured operation uses the memory that the work has written, so it
 * is not known whether each launch was meant to repeat the work. */
struct sc_left_out_finding {
    const struct sc_hazard *beside;
    const struct sc_device_use *use; /* what the work beside the capture does with the memory */
    const struct sc_hazard_copy *captured;
    const struct sc_device_use *captured_use;
    bool is_further; /* a finding of the same stack was visited before */
    bool is_met;     /* later work of the thread beside the capture may use the memory */
};

/* Returns the address at which the allocation that contains `address` begins, or `address` itself
 * if that is not known. */
typedef uintptr_t sc_left_out_find_base(uintptr_t address);

/* Calls `visit` for each call stack from which an operation was issued that the graph lacks, with
 * the first such operation. For a stack without one, calls it with each operation of which nobody
 * can tell whether the graph lacks it. */
typedef void sc_left_out_visit(void *context, const struct sc_left_out_finding *finding);
void sc_left_out_visit_findings(struct sc_left_out *left_out, sc_left_out_find_base *base_of,
                                sc_left_out_visit *visit, void *context);

/* Stores what launches of the graph may write. `node_count`: how many nodes the graph has now.
 * Returns false if that is not known, for example because the graph has nodes that this record has
 * not seen (another thread captured, too). */
bool sc_left_out_get_writes(const struct sc_left_out *left_out, size_t node_count,
                            struct sc_graph_write *write);

/* Returns how many operations were dropped for want of room. */
uint64_t sc_left_out_count_dropped(const struct sc_left_out *left_out);

#endif
