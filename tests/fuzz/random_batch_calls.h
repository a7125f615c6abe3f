/* Batches as the driver gets them, by each of its four functions. A part of random_batches.c.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_BATCH_CALLS_H
#define SC_TESTS_FUZZ_RANDOM_BATCH_CALLS_H

/* cuda.h declares the later one of each pair by the name of both. */
#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync
CUresult CUDAAPI cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                                    size_t count, CUmemcpyAttributes *attributes, size_t *first,
                                    size_t attribute_count, size_t *failed, CUstream stream);
CUresult CUDAAPI cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed,
                                      unsigned long long flags, CUstream stream);

static struct {
    CUdeviceptr dsts[COPIES_MAX], srcs[COPIES_MAX];
    size_t sizes[COPIES_MAX];
    CUDA_MEMCPY3D_BATCH_OP copies[COPIES_MAX];
} given;

static CUdeviceptr source_of(const struct copy *copy)
{
    if (copy->reads_shared)
        return address_of_use(&copy->shared_src);
    return reads_buffer(copy) ? address_of(&copy->src) : world.device + copy->device_src;
}

/* Where bytes land that another buffer gets nobody looks. */
static CUdeviceptr target_of(const struct copy *copy)
{
    if (copy->writes_shared)
        return address_of_use(&copy->shared_dst);
    return writes_buffer(copy) ? address_of(&copy->dst)
                               : world.device + SOURCE_BYTES + copy->result;
}

static CUmemcpy3DOperand operand_of(CUdeviceptr address, const struct area *area)
{
    CUmemcpy3DOperand operand = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER};
    operand.op.ptr.ptr = address;
    operand.op.ptr.rowLength = area && area->rows > 1 ? area->pitch : 0;
    return operand;
}

static void make_arguments(void)
{
    for (int i = 0; i < batch.count; i++) {
        const struct copy *copy = &batch.copies[i];
        const struct area *src = reads_buffer(copy) ? &copy->src : NULL;
        const struct area *dst = writes_buffer(copy) ? &copy->dst : NULL;
        const struct area *any = src ? src : dst;
        given.dsts[i] = target_of(copy);
        given.srcs[i] = source_of(copy);
        given.sizes[i] = copy->size_bytes;
        given.copies[i] = (CUDA_MEMCPY3D_BATCH_OP){
            .src = operand_of(source_of(copy), src),
            .dst = operand_of(target_of(copy), dst),
            .extent = {any ? any->width : copy->size_bytes, any ? any->rows : 1, 1},
            .srcAccessOrder = copy->order,
        };
    }
}

static CUresult call_flat(CUstream stream, size_t *failed)
{
    size_t count = (size_t)batch.count, attributes = (size_t)batch.attribute_count;
    if (!failed)
        return cuMemcpyBatchAsync_v2(given.dsts, given.srcs, given.sizes, count, batch.attributes,
                                     batch.first, attributes, stream);
    return cuMemcpyBatchAsync(given.dsts, given.srcs, given.sizes, count, batch.attributes,
                              batch.first, attributes, failed, stream);
}

static CUresult call_3d(CUstream stream, size_t *failed)
{
    size_t count = (size_t)batch.count;
    return failed ? cuMemcpy3DBatchAsync(count, given.copies, failed, 0, stream)
                  : cuMemcpy3DBatchAsync_v2(count, given.copies, 0, stream);
}

static void describe_batch(void)
{
    static const char *const ways[] = {"to", "from", "within", "between"};
    static const char *const orders[] = {"?", "STREAM", "DURING", "ANY"};
    say("%s batch of %d on stream %d; node %d", batch.is_3d ? "3D" : "flat", batch.count,
        batch.slot, world.oracle.node_count);
    for (int i = 0; i < batch.count && i < FEW; i++) {
        const struct copy *copy = &batch.copies[i];
        say("  %s, %s, %zu bytes; from buffer %d at %zu, to %d at %zu, %zu rows", ways[copy->way],
            orders[copy->order], copy->size_bytes, reads_buffer(copy) ? copy->src.buffer : NOBODY,
            copy->src.offset, writes_buffer(copy) ? copy->dst.buffer : NOBODY, copy->dst.offset,
            reads_buffer(copy) ? copy->src.rows : copy->dst.rows);
        if (copy->reads_shared)
            say("    from shared block %d at %zu", copy->shared_src.block, copy->shared_src.offset);
        if (copy->writes_shared)
            say("    to shared block %d at %zu", copy->shared_dst.block, copy->shared_dst.offset);
    }
}

/* KNOWN: the driver reads a pageable source that is large, or goes to managed memory, late against
 * its order, which mode=report leaves as it is (docs/limits.md). */
static bool is_read_late(const struct copy *copy)
{
    int kind = world.buffers[copy->src.buffer].kind;
    bool to_managed = writes_buffer(copy) && world.buffers[copy->dst.buffer].kind == MANAGED;
    return !world.healed && reads_buffer(copy) && (kind == HEAP || kind == PAGES) &&
           copy->order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL &&
           (to_managed || hull_of(&copy->src) > STAGED_BYTES);
}

static void act_batch(void)
{
    size_t failed = 0;
    if (!pick_batch())
        return;
    for (int i = 0; i < batch.count; i++)
        prepare(&batch.copies[i]);
    describe_batch();
    make_arguments();
    draw_batch();
    CUstream stream = world.slots[batch.slot].handle;
    CHECK((batch.is_3d ? call_3d : call_flat)(stream, one_in(2) ? &failed : NULL));
    for (int i = 0; i < batch.count; i++)
        if (is_read_late(&batch.copies[i])) {
            do_context_sync();
            break;
        }
}

#endif
