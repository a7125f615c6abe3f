/* Wrappers of batch copies, on streams that capture and on others (batch_copies.h). A single copy
 * with attributes is a batch of one.
 *
 * On a stream that captures, a driver refuses a batch with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.
 * The capture goes on, and the graph lacks the copies (SC304). With capture=repair each copy
 * becomes a node, in order. A source with order DURING_API_CALL is the caller's again when the call
 * returns, so its node reads a copy of it. The driver is asked first: one that takes the batch
 * (CUDA 13.5 has nodes for it) makes its own nodes, and the graph then names what the copies name.
 */

/* Terms (docs/glossary.md):
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   wrapper: our function in the place of one of the driver's
 */

#include "common/hazard_words.h"
#include "common/shape.h"
#include "interpose/calls/batch.h"
#include "interpose/calls/batch_copies.h"
#include "interpose/calls/batch_sources.h"
#include "interpose/calls/issue.h"
#include "interpose/capture/captures.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "interpose/driver/wrap.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/graph/node_uses.h"
#include "interpose/streams/streams.h"

#include "common/poison.h"

/* One call of a batch function: what its wrappers have in common. */
struct batch {
    struct sc_batch copies;
    CUresult (*capture)(struct batch *batch,
                        size_t copy);  /* as a single copy; NULL: not possible */
    struct sc_stream_record *captured; /* the stream, if it captures; NULL: it does not */
    size_t *failed;       /* where the driver writes the index of a refused copy, or NULL */
    size_t failed_before; /* what *failed was before the call, where the stream captures */
    bool valid;           /* the arguments are such that the driver would not refuse them */
};

/* ---- in a capture ---- */

/* Returns the stream of the batch if it captures; NULL: it does not, as mostly no stream does. */
static struct sc_stream_record *capturing_stream(const struct batch *batch)
{
    return sc_captures_any_open()
               ? sc_streams_find_captured(batch->copies.handle, batch->copies.call->per_thread)
               : NULL;
}

/* Reports that the graph of the capture lacks the copies of a batch, which the driver has refused
 * to capture (SC304). `action`: whether the library has captured them one by one instead. */
static void report_missing(const struct batch *batch, enum sc_action action)
{
    const struct sc_call *call = batch->copies.call;
    struct sc_capture capture = sc_captures_find_of_stream(batch->captured);
    sc_captures_report(SC304, action, &capture.begin, call);
}

/* Is it an access order that the driver knows? A batch with a wrong one is left to the driver,
 * which refuses it. */
static bool is_order(CUmemcpySrcAccessOrder order)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/* Is the batch on the legacy stream? The driver refuses such a batch always, so the library has
 * nothing to do with it. */
static bool is_on_legacy(const struct batch *batch)
{
    CUstream handle = batch->copies.handle;
    return handle == CU_STREAM_LEGACY || (!handle && !batch->copies.call->per_thread);
}

/* Returns where a node of the graph is to read the source of a captured copy: where the program
 * says, except with the access order DURING_API_CALL. There the program may change the source when
 * the call returns, so the node reads a copy, which lives as long as a graph may use it. */
static CUdeviceptr source_for_node(const struct sc_copy_side *side, CUmemcpySrcAccessOrder order)
{
    void *kept = NULL;
    if (side->host && order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
        kept = sc_node_uses_copy_bytes((const void *)side->shape.address,
                                       sc_shape_hull_bytes(&side->shape));
    return kept ? (CUdeviceptr)(uintptr_t)kept : side->shape.address;
}

/* Begins to capture one copy of a batch by a single asynchronous copy, which the caller makes.
 * Returns the address from which that copy has to read. */
static CUdeviceptr begin_single(struct sc_issue *issue, const struct batch *batch,
                                struct sc_copy_sides *sides, CUmemcpySrcAccessOrder order)
{
    sides->src.shape.address = (uintptr_t)source_for_node(&sides->src, order);
    sc_issue_begin(issue, batch->copies.call, batch->copies.handle);
    sc_issue_add_sides(issue, sides);
    return sides->src.shape.address;
}

/* Called before the driver's call. On a stream that captures nothing runs now, so there is nothing
 * to judge; *failed is kept, to be restored if the copies are captured one by one. A batch that the
 * driver will refuse (`valid` false) is not looked at: its arrays may be no arrays. */
static void begin_batch(struct batch *batch, bool valid)
{
    batch->valid = valid;
    batch->captured = capturing_stream(batch);
    if (batch->captured && batch->failed)
        batch->failed_before = *batch->failed;
    if (!batch->captured && valid)
        sc_batch_copies_begin(&batch->copies);
}

/* Called if the driver has captured the whole batch as one node: notes what that node does with the
 * memory of each copy, for the graph's launches. A source with the access order DURING_API_CALL was
 * read during the call, so the node does not use it. */
static void note_captured(struct batch *batch)
{
    for (size_t i = 0; i < batch->copies.count; i++) {
        struct sc_batch_copy copy = {.src_is = SC_SIDE_ASKED, .dst_is = SC_SIDE_ASKED};
        batch->copies.describe(&batch->copies, i, &copy);
        if (copy.sides.is_empty)
            continue;
        if (copy.order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
            copy.sides.src = (struct sc_copy_side){0};
        struct sc_issue issue;
        sc_issue_begin(&issue, batch->copies.call, batch->copies.handle);
        sc_issue_add_sides(&issue, &copy.sides);
        sc_issue_end(&issue, CUDA_SUCCESS);
    }
}

/* Captures the copies one by one, each as a node, until the driver refuses one. Returns that
 * answer, and stores the index of the refused copy, as the driver's batch function does. */
static CUresult capture_all(struct batch *batch)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < batch->copies.count && result == CUDA_SUCCESS; i++) {
        result = batch->capture(batch, i);
        if (batch->failed) /* as the batch function does; after success it is as before the call */
            *batch->failed = result == CUDA_SUCCESS ? batch->failed_before : i;
    }
    return result;
}

/* Called when the driver has answered a batch on a stream that captures. Most drivers refuse it,
 * and the graph would lack the copies: with capture=repair they are captured one by one. That is
 * not done if the capture itself has failed, since nothing can be added to it any more, or if the
 * library cannot make such copies (`capture` NULL). Returns what the program gets as the answer. */
static CUresult end_in_capture(struct batch *batch, CUresult result)
{
    if (result == CUDA_SUCCESS && batch->valid)
        note_captured(batch);
    if (!sc_driver_is_capture_error(result) || !sc_streams_is_capturing(batch->captured))
        return result;
    if (!batch->capture || !batch->valid || !sc_captures_are_repaired()) {
        report_missing(batch, SC_ACTION_REPORTED);
        return result;
    }
    result = capture_all(batch);
    report_missing(batch, result == CUDA_SUCCESS ? SC_ACTION_REROUTED : SC_ACTION_REPORTED);
    return result;
}

/* ---- runs of bytes ---- */

/* The arrays of a batch as the driver gets them: `count` copies, and for each attribute the index
 * of the first copy for which it holds. */
struct flat_arrays {
    CUdeviceptr *dsts, *srcs;
    size_t *sizes;
    size_t count;
    size_t *first;
};

/* A batch of contiguous copies, whose arguments are arrays. */
struct flat_batch {
    struct batch batch; /* first, so that a pointer to it is one to the whole */
    struct flat_arrays arrays;
    CUmemcpyAttributes *attributes;
    size_t attribute_count;
    size_t begun; /* how many attributes hold for the described copy or for earlier ones */
};

/* Stores the arguments of the call: arrays with an element for each copy. */
static void set_arrays(struct flat_batch *batch, CUdeviceptr *dsts, CUdeviceptr *srcs,
                       size_t *sizes, CUmemcpyAttributes *attributes, size_t *first,
                       size_t attribute_count)
{
    batch->arrays = (struct flat_arrays){dsts, srcs, sizes, batch->batch.copies.count, first};
    batch->attributes = attributes;
    batch->attribute_count = attribute_count;
}

/* Returns the access order of a copy. An attribute is for the copies from its own index up to the
 * next attribute's. Copies are asked about in the order of their indices, so the search continues
 * where it ended. */
static CUmemcpySrcAccessOrder access_order(struct flat_batch *batch, size_t copy)
{
    if (copy == 0)
        batch->begun = 0;
    while (batch->begun < batch->attribute_count && batch->arrays.first[batch->begun] <= copy)
        batch->begun++;
    return batch->begun ? batch->attributes[batch->begun - 1].srcAccessOrder
                        : CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
}

/* Describes copy `i` of a batch whose arguments are arrays (cuMemcpyBatchAsync). */
static void describe_flat(struct sc_batch *copies, size_t i, struct sc_batch_copy *copy)
{
    struct flat_batch *batch = (struct flat_batch *)(void *)copies;
    copy->order = access_order(batch, i);
    copy->sides.is_empty = batch->arrays.sizes[i] == 0;
    if (copy->sides.is_empty)
        return;
    copy->sides.src =
        sc_batch_copies_side_at(batch->arrays.srcs[i], batch->arrays.sizes[i], copy->src_is);
    copy->sides.dst =
        sc_batch_copies_side_at(batch->arrays.dsts[i], batch->arrays.sizes[i], copy->dst_is);
}

/* Would the driver accept the arguments? Reads the arrays only as far as the driver would. */
static bool is_valid_flat(const struct flat_batch *batch)
{
    const struct flat_arrays *arrays = &batch->arrays;
    bool valid = arrays->dsts && arrays->srcs && arrays->sizes && batch->attributes &&
                 arrays->first && batch->attribute_count &&
                 batch->attribute_count <= arrays->count && arrays->first[0] == 0;
    for (size_t i = 0; valid && i < batch->attribute_count; i++)
        valid = is_order(batch->attributes[i].srcAccessOrder) && arrays->first[i] < arrays->count &&
                (i == 0 || arrays->first[i] > arrays->first[i - 1]);
    return valid;
}

/* Captures copy `i` of a batch of contiguous copies by a single copy. Returns the driver's answer.
 */
static CUresult capture_flat(struct batch *copies, size_t i)
{
    struct flat_batch *batch = (struct flat_batch *)(void *)copies;
    CUdeviceptr dst = batch->arrays.dsts[i], src = batch->arrays.srcs[i];
    size_t bytes = batch->arrays.sizes[i];
    struct sc_issue issue;
    struct sc_copy_sides sides = {.src = sc_copy_side_at(SC_SIDE_ASKED, src, bytes),
                                  .dst = sc_copy_side_at(SC_SIDE_ASKED, dst, bytes)};
    src = begin_single(&issue, copies, &sides, access_order(batch, i));
    return sc_issue_end(&issue,
                        copies->copies.call->per_thread
                            ? sc_real.cuMemcpyAsync_ptsz(dst, src, bytes, copies->copies.handle)
                            : sc_real.cuMemcpyAsync(dst, src, bytes, copies->copies.handle));
}

/* ---- the batch as the driver gets it ----
 *
 * The program's arrays, or arrays in the scratch memory where sources are replaced. There each copy
 * has room for its pieces in three of them, and for one index of attributes. */

enum { SCRATCH_BYTES = (3 * SC_BATCH_PIECES_MAX + 1) * sizeof(size_t) };

_Static_assert(sizeof(CUdeviceptr) == sizeof(size_t), "one size for every element");

/* Fills the arrays that the driver gets in place of the program's: an element for each piece of a
 * copy (pieces of one copy may be read at different places), and for each attribute the index of
 * the first piece for which it holds. */
static void write_pieces(struct flat_batch *batch, struct flat_arrays *made)
{
    const struct flat_arrays *arrays = &batch->arrays;
    struct sc_batch_piece pieces[SC_BATCH_PIECES_MAX];
    size_t piece_count = 0;
    size_t attributes = 0;
    for (size_t i = 0; i < arrays->count; i++) {
        unsigned count = sc_batch_sources_pieces(&batch->batch.copies, i, arrays->sizes[i], pieces);
        if (attributes < batch->attribute_count && arrays->first[attributes] == i)
            made->first[attributes++] = piece_count;
        for (unsigned piece = 0; piece < count; piece++, piece_count++) {
            const void *source = pieces[piece].source;
            made->dsts[piece_count] = arrays->dsts[i] + pieces[piece].offset;
            made->srcs[piece_count] =
                source ? (CUdeviceptr)(uintptr_t)source : arrays->srcs[i] + pieces[piece].offset;
            made->sizes[piece_count] = pieces[piece].size_bytes;
        }
    }
    made->count = piece_count;
}

/* Returns the arrays to pass to the driver: the program's, or, if sources are replaced, arrays in
 * the batch's scratch memory, which say where to read instead. */
static struct flat_arrays arrays_for_driver(struct flat_batch *batch)
{
    size_t room = batch->arrays.count * SC_BATCH_PIECES_MAX;
    if (!batch->batch.copies.replaced)
        return batch->arrays;
    size_t *scratch = sc_batch_sources_scratch(&batch->batch.copies);
    struct flat_arrays made = {
        .dsts = (CUdeviceptr *)scratch,
        .srcs = (CUdeviceptr *)scratch + room,
        .sizes = scratch + 2 * room,
        .first = scratch + 3 * room,
    };
    write_pieces(batch, &made);
    return made;
}

/* Called when the driver has refused a batch of which it was given more pieces than the program has
 * copies (`extra`): changes *failed from the index of the refused piece to that of its copy. */
static void name_failed_copy(const struct flat_batch *batch)
{
    const struct sc_batch *copies = &batch->batch.copies;
    struct sc_batch_piece pieces[SC_BATCH_PIECES_MAX];
    size_t *failed = batch->batch.failed;
    size_t end = 0;
    for (size_t i = 0; failed && copies->extra && i < copies->count; i++) {
        end += sc_batch_sources_pieces(copies, i, batch->arrays.sizes[i], pieces);
        if (*failed < end) {
            *failed = i;
            return;
        }
    }
}

/* Called when the driver has answered a batch of contiguous copies: ends the batch, captured or
 * not, and returns what the program gets. */
static CUresult end_flat(struct flat_batch *batch, CUresult result)
{
    if (batch->batch.captured)
        return end_in_capture(&batch->batch, result);
    if (result != CUDA_SUCCESS)
        name_failed_copy(batch);
    return sc_batch_copies_end(&batch->batch.copies, result);
}

/* Returns the record of a call whose arguments are arrays, which set_arrays then stores. `failed`:
 * where the driver writes the index of a refused copy; NULL: this function has no such parameter.
 */
static struct flat_batch make_flat_batch(const struct sc_call *call, CUstream stream, size_t count,
                                         size_t *failed)
{
    return (struct flat_batch){
        .batch = {.copies = {.call = call,
                             .handle = stream,
                             .count = count,
                             .describe = describe_flat,
                             .splits = true,
                             .scratch_bytes = SCRATCH_BYTES},
                  .capture = capture_flat,
                  .failed = failed},
    };
}

#define COPIES_RUNS(symbol, failed, parameters, arguments, ...)                                    \
    SC_PAIR(symbol, _ptsz, parameters, arguments)                                                  \
    {                                                                                              \
        struct flat_batch batch = make_flat_batch(call, stream, count, failed);                    \
        set_arrays(&batch, dsts, srcs, sizes, attributes, first, attribute_count);                 \
        begin_batch(&batch.batch, is_valid_flat(&batch) && !is_on_legacy(&batch.batch));           \
        struct flat_arrays made = arrays_for_driver(&batch);                                       \
        return end_flat(&batch, real(made.dsts, made.srcs, made.sizes, made.count, attributes,     \
                                     made.first, attribute_count, __VA_ARGS__));                   \
    }

COPIES_RUNS(cuMemcpyBatchAsync, failed,
            (CUdeviceptr * dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
             CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count, size_t *failed,
             CUstream stream),
            (dsts, srcs, sizes, count, attributes, first, attribute_count, failed, stream), failed,
            stream)
COPIES_RUNS(cuMemcpyBatchAsync_v2, NULL,
            (CUdeviceptr * dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
             CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count,
             CUstream stream),
            (dsts, srcs, sizes, count, attributes, first, attribute_count, stream), stream)

/* One copy, which cannot be made in pieces. Whether the driver takes such a copy on the legacy
 * stream is not known, so it is watched there, too. */
SC_PAIR(cuMemcpyWithAttributesAsync, _ptsz,
        (CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes *attributes,
         CUstream stream),
        (dst, src, size, attributes, stream))
{
    struct flat_batch batch = make_flat_batch(call, stream, 1, NULL);
    size_t first = 0;
    batch.batch.copies.splits = false;
    set_arrays(&batch, &dst, &src, &size, attributes, &first, 1);
    begin_batch(&batch.batch, is_valid_flat(&batch));
    struct flat_arrays made = arrays_for_driver(&batch);
    return end_flat(&batch, real(made.dsts[0], made.srcs[0], size, attributes, stream));
}

/* ---- in three dimensions ---- */

/* Returns the rows of an operand. If it has several layers, a row is one layer, from its first row
 * to its last. */
static struct sc_shape operand_shape(const CUmemcpy3DOperand *operand, const CUextent3D *extent)
{
    size_t row = operand->op.ptr.rowLength ? operand->op.ptr.rowLength : extent->width;
    size_t rows = operand->op.ptr.layerHeight ? operand->op.ptr.layerHeight : extent->height;
    if (extent->depth == 1)
        return (struct sc_shape){operand->op.ptr.ptr, extent->width, row, extent->height};
    return (struct sc_shape){operand->op.ptr.ptr, row * (extent->height - 1) + extent->width,
                             row * rows, extent->depth};
}

/* Returns the gaps within the rows that operand_shape makes of layers. */
static struct sc_fold operand_fold(const CUmemcpy3DOperand *operand, const CUextent3D *extent)
{
    size_t pitch = operand->op.ptr.rowLength;
    if (extent->depth > 1 && extent->height > 1 && pitch && pitch != extent->width)
        return (struct sc_fold){extent->width, pitch};
    return (struct sc_fold){0, 0};
}

/* Returns one side of a 3D copy. A CUDA array is device memory that no address names, so it counts
 * as an unused side. */
static struct sc_copy_side operand_side(const CUmemcpy3DOperand *operand, const CUextent3D *extent,
                                        enum sc_side_as is)
{
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_POINTER)
        return (struct sc_copy_side){0};
    struct sc_shape shape = operand_shape(operand, extent);
    struct sc_copy_side side =
        sc_batch_copies_side_at(shape.address, sc_shape_hull_bytes(&shape), is);
    side.shape = shape;
    side.fold = operand_fold(operand, extent);
    return side;
}

/* A batch of 3D copies, whose arguments are a list of structs. */
struct batch_3d {
    struct batch batch; /* first, so that a pointer to it is one to the whole */
    CUDA_MEMCPY3D_BATCH_OP *list;
};

/* Describes copy `i` of a batch of 3D copies (cuMemcpy3DBatchAsync). */
static void describe_3d(struct sc_batch *copies, size_t i, struct sc_batch_copy *copy)
{
    const CUDA_MEMCPY3D_BATCH_OP *op = &((struct batch_3d *)(void *)copies)->list[i];
    copy->order = op->srcAccessOrder;
    copy->sides.is_empty = !op->extent.width || !op->extent.height || !op->extent.depth;
    if (copy->sides.is_empty)
        return;
    copy->sides.src = operand_side(&op->src, &op->extent, copy->src_is);
    copy->sides.dst = operand_side(&op->dst, &op->extent, copy->dst_is);
}

/* Captures copy `i` of a batch of 3D copies by a single 3D copy, and returns the driver's answer.
 * No side is a CUDA array: a batch counts arrays in elements, a single copy in bytes, so batches
 * with arrays are left to the driver (has_arrays). */
static CUresult capture_3d(struct batch *batch, size_t i)
{
    const CUDA_MEMCPY3D_BATCH_OP *op = &((const struct batch_3d *)(void *)batch)->list[i];
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = op->src.op.ptr.ptr,
        .srcPitch = op->src.op.ptr.rowLength ? op->src.op.ptr.rowLength : op->extent.width,
        .srcHeight = op->src.op.ptr.layerHeight ? op->src.op.ptr.layerHeight : op->extent.height,
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = op->dst.op.ptr.ptr,
        .dstPitch = op->dst.op.ptr.rowLength ? op->dst.op.ptr.rowLength : op->extent.width,
        .dstHeight = op->dst.op.ptr.layerHeight ? op->dst.op.ptr.layerHeight : op->extent.height,
        .WidthInBytes = op->extent.width,
        .Height = op->extent.height,
        .Depth = op->extent.depth,
    };
    struct sc_copy_sides sides = sc_copy_sides_of_3d(&copy);
    struct sc_issue issue;
    copy.srcDevice = begin_single(&issue, batch, &sides, op->srcAccessOrder);
    CUresult result = batch->copies.call->per_thread
                          ? sc_real.cuMemcpy3DAsync_v2_ptsz(&copy, batch->copies.handle)
                          : sc_real.cuMemcpy3DAsync_v2(&copy, batch->copies.handle);
    return sc_issue_end(&issue, result);
}

/* Would the driver accept the arguments of a batch of 3D copies? One that it would refuse is not
 * looked at further. */
static bool is_valid_3d(const struct batch_3d *batch, unsigned long long flags)
{
    bool valid = batch->list && batch->batch.copies.count && !flags;
    for (size_t i = 0; valid && i < batch->batch.copies.count; i++)
        valid = is_order(batch->list[i].srcAccessOrder);
    return valid;
}

/* Is any source or destination a CUDA array, whose size a single copy counts in other units? */
static bool has_arrays(const struct batch_3d *batch)
{
    for (size_t i = 0; i < batch->batch.copies.count; i++)
        if (batch->list[i].src.type != CU_MEMCPY_OPERAND_TYPE_POINTER ||
            batch->list[i].dst.type != CU_MEMCPY_OPERAND_TYPE_POINTER)
            return true;
    return false;
}

/* Called before the driver's call for a batch of 3D copies: judges the copies, unless the driver
 * would refuse the batch. */
static void begin_3d(struct batch_3d *batch, unsigned long long flags)
{
    begin_batch(&batch->batch, is_valid_3d(batch, flags) && !is_on_legacy(&batch->batch));
}

/* Returns the list for the driver: the program's, or a changed copy of it if sources are replaced.
 */
static CUDA_MEMCPY3D_BATCH_OP *list_for_driver(const struct batch_3d *batch)
{
    const struct sc_batch *copies = &batch->batch.copies;
    struct sc_batch_piece pieces[SC_BATCH_PIECES_MAX];
    CUDA_MEMCPY3D_BATCH_OP *list = copies->replaced ? sc_batch_sources_scratch(copies) : NULL;
    for (size_t i = 0; list && i < copies->count; i++) {
        list[i] = batch->list[i];
        sc_batch_sources_pieces(copies, i, SIZE_MAX, pieces);
        if (pieces[0].source) {
            list[i].src.op.ptr.ptr = (CUdeviceptr)(uintptr_t)pieces[0].source;
            if (copies->sources[i].slot)
                list[i].src.op.ptr.rowLength = list[i].src.op.ptr.layerHeight =
                    0; /* a snapshot is packed */
        }
    }
    return list ? list : batch->list;
}

/* Returns the record of a call that makes a batch of 3D copies. `failed`: where the driver writes
 * the index of a refused copy; NULL: this function has no such parameter. */
static struct batch_3d make_batch_3d(const struct sc_call *call, CUstream stream, size_t count,
                                     CUDA_MEMCPY3D_BATCH_OP *list, size_t *failed)
{
    return (struct batch_3d){
        .batch = {.copies = {.call = call,
                             .handle = stream,
                             .count = count,
                             .describe = describe_3d,
                             .scratch_bytes = sizeof *list},
                  .failed = failed},
        .list = list,
    };
}

/* Called when the driver has answered a batch of 3D copies. In a capture, copies with CUDA arrays
 * cannot be captured one by one (has_arrays), so none is then. Returns what the program gets. */
static CUresult end_3d(struct batch_3d *batch, CUresult result)
{
    if (batch->batch.captured) {
        batch->batch.capture = batch->batch.valid && !has_arrays(batch) ? capture_3d : NULL;
        return end_in_capture(&batch->batch, result);
    }
    return sc_batch_copies_end(&batch->batch.copies, result);
}

SC_PAIR(cuMemcpy3DBatchAsync, _ptsz,
        (size_t count, CUDA_MEMCPY3D_BATCH_OP *list, size_t *failed, unsigned long long flags,
         CUstream stream),
        (count, list, failed, flags, stream))
{
    struct batch_3d batch = make_batch_3d(call, stream, count, list, failed);
    begin_3d(&batch, flags);
    return end_3d(&batch, real(count, list_for_driver(&batch), failed, flags, stream));
}

SC_PAIR(cuMemcpy3DBatchAsync_v2, _ptsz,
        (size_t count, CUDA_MEMCPY3D_BATCH_OP *list, unsigned long long flags, CUstream stream),
        (count, list, flags, stream))
{
    struct batch_3d batch = make_batch_3d(call, stream, count, list, NULL);
    begin_3d(&batch, flags);
    return end_3d(&batch, real(count, list_for_driver(&batch), flags, stream));
}

SC_PAIR(cuMemcpy3DWithAttributesAsync, _ptsz,
        (CUDA_MEMCPY3D_BATCH_OP * op, unsigned long long flags, CUstream stream),
        (op, flags, stream))
{
    struct batch_3d batch = make_batch_3d(call, stream, 1, op, NULL);
    begin_batch(&batch.batch, is_valid_3d(&batch, flags));
    return end_3d(&batch, real(list_for_driver(&batch), flags, stream));
}
