/* Batches out of locals of functions that return, and into locals; batches that the driver refuses;
 * and those behind a host function that fills their source. A part of random_batches.c.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_BATCH_EXTRAS_H
#define SC_TESTS_FUZZ_RANDOM_BATCH_EXTRAS_H

/* ---- locals ---- */

enum { LOCAL_BYTES = 100 * 1024 };

/* Whoever calls this overwrites what the function before has left on the stack. */
static __attribute__((noinline)) void scribble(void)
{
    volatile unsigned char bytes[LOCAL_BYTES + 8192];
    for (size_t i = 0; i < sizeof bytes; i += 16)
        bytes[i] = 0xA5;
}

static size_t pick_local_size(void)
{
    static const size_t sizes[] = {1, 16, 3000, 32 * 1024, 40000, 64 * 1024, LOCAL_BYTES};
    return sizes[below(sizeof sizes / sizeof *sizes)];
}

/* One copy between a local and the device. */
static void call_of_local(unsigned char *local, size_t size_bytes, bool down,
                          CUmemcpySrcAccessOrder order)
{
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)local;
    CUdeviceptr device = down ? world.device : world.device + SOURCE_BYTES + world.result_used;
    CUmemcpyAttributes attributes = {.srcAccessOrder = order};
    size_t first = 0;
    CUdeviceptr dst = down ? at : device, src = down ? device : at;
    CHECK(cuMemcpyBatchAsync_v2(&dst, &src, &size_bytes, 1, &attributes, &first, 1,
                                world.slots[batch.slot].handle));
}

/* In a correct program the local lives until it was read, unless it was in the call. */
static __attribute__((noinline)) void upload_local(size_t size_bytes, CUmemcpySrcAccessOrder order)
{
    unsigned char local[LOCAL_BYTES];
    int node = oracle_add_node(&world.oracle, world.slots[batch.slot].stream);
    struct op op = {.node = node, .slot = batch.slot, .tracked = true};
    bool is_late = !world.healed && size_bytes > STAGED_BYTES; /* KNOWN: as is_read_late */
    bool is_lasting = order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL && !is_late;
    fill_random(local, size_bytes);
    memcpy(world.results + world.result_used, local, size_bytes);
    call_of_local(local, size_bytes, false, order);
    world.arrivals[world.arrival_count++] =
        (struct arrival){node + 1, world.result_used, size_bytes};
    world.result_used += size_bytes;
    if (!is_lasting && (world.correct || !world.healed || world.slots[batch.slot].is_unclear))
        learn(&op);
    else if (!is_lasting)
        most[OVERWRITTEN] += 2; /* when the frame is seen to be gone, or the bytes to differ */
}

static __attribute__((noinline)) void download_local(size_t size_bytes)
{
    unsigned char local[LOCAL_BYTES];
    int node = oracle_add_node(&world.oracle, world.slots[batch.slot].stream);
    struct op op = {.node = node, .slot = batch.slot, .tracked = true};
    memset(local, 0, size_bytes);
    call_of_local(local, size_bytes, true, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
    learn(&op);
    compare("a local, node", node, local, world.source, size_bytes);
}

/* What was left on the stack before may lie where this one does. */
static void act_local(void)
{
    size_t size_bytes = pick_local_size();
    CUmemcpySrcAccessOrder order = (CUmemcpySrcAccessOrder)(1 + below(3));
    bool down = one_in(4);
    batch.slot = below(STREAMS);
    if (world.result_used + size_bytes > RESULT_BYTES || world.arrival_count == OPS_MAX)
        return;
    if (down)
        do_context_sync();
    say("local of %zu bytes, %s, order %d, on stream %d", size_bytes, down ? "down" : "up",
        (int)order, batch.slot);
    if (down)
        download_local(size_bytes);
    else
        upload_local(size_bytes, order);
    scribble();
}

/* ---- batches that the driver refuses ---- */

enum refusal {
    NO_COPIES,
    NO_ATTRIBUTES,
    TOO_MANY_ATTRIBUTES,
    FIRST_IS_LATER,
    NOT_ASCENDING,
    BEHIND_THE_END,
    NO_ORDER,
    WRONG_ORDER,
    NO_ARRAY,
    LEGACY_STREAM,
    BAD_COPY,
    REFUSALS
};

/* No copy, or none but to the device, is begun with. */
static void spoil(enum refusal how, CUstream *stream)
{
    size_t count = (size_t)batch.count;
    switch (how) {
    case NO_COPIES:
        batch.count = 0;
        break;
    case NO_ATTRIBUTES:
        batch.attribute_count = 0;
        break;
    case TOO_MANY_ATTRIBUTES:
        batch.attribute_count = batch.count + 1;
        for (size_t i = 0; i <= count; i++) {
            batch.first[i] = i;
            batch.attributes[i] = batch.attributes[0];
        }
        break;
    case FIRST_IS_LATER:
        batch.first[0] = 1;
        break;
    case NOT_ASCENDING:
        batch.attribute_count = 2;
        batch.attributes[1] = batch.attributes[0];
        batch.first[1] = 0;
        break;
    case BEHIND_THE_END:
        batch.attributes[batch.attribute_count] = batch.attributes[0];
        batch.first[batch.attribute_count++] = count;
        break;
    case NO_ORDER:
    case WRONG_ORDER:
        batch.attributes[batch.attribute_count - 1].srcAccessOrder =
            (CUmemcpySrcAccessOrder)(how == NO_ORDER ? 0 : 99);
        break;
    case LEGACY_STREAM:
        *stream = one_in(2) ? CU_STREAM_LEGACY : NULL;
        break;
    case BAD_COPY:
        given.dsts[batch.count - 1] = 0;
        break;
    default:
        break;
    }
}

static CUresult call_refused(enum refusal how, CUstream stream, size_t *failed)
{
    size_t count = (size_t)batch.count, attributes = (size_t)batch.attribute_count;
    bool lacks = how == NO_ARRAY;
    int lacking = below(5);
    CUdeviceptr *dsts = lacks && lacking == 0 ? NULL : given.dsts;
    CUdeviceptr *srcs = lacks && lacking == 1 ? NULL : given.srcs;
    size_t *sizes = lacks && lacking == 2 ? NULL : given.sizes;
    size_t *first = lacks && lacking == 3 ? NULL : batch.first;
    CUmemcpyAttributes *attribute = lacks && lacking == 4 ? NULL : batch.attributes;
    return failed ? cuMemcpyBatchAsync(dsts, srcs, sizes, count, attribute, first, attributes,
                                       failed, stream)
                  : cuMemcpyBatchAsync_v2(dsts, srcs, sizes, count, attribute, first, attributes,
                                          stream);
}

static bool is_harmless(void)
{
    for (int i = 0; i < batch.count; i++)
        if (batch.copies[i].way != TO_DEVICE)
            return false;
    return true;
}

/* Nothing of it happens, or only what nobody looks at, and nothing is in flight of it. */
static void act_refused(void)
{
    enum refusal how = (enum refusal)below(REFUSALS);
    size_t failed = 77, wanted = SIZE_MAX;
    size_t used = world.result_used;
    if (!pick_batch() || batch.count > FEW || (how == BAD_COPY && !is_harmless()) ||
        (how == NOT_ASCENDING && batch.count < 2)) {
        world.result_used = used;
        return;
    }
    for (int i = 0; i < batch.count; i++)
        batch.copies[i].reads_shared = batch.copies[i].writes_shared = false;
    CUstream stream = world.slots[batch.slot].handle;
    if (how == BAD_COPY)
        do_context_sync();
    make_arguments();
    wanted = how == BAD_COPY ? (size_t)batch.count - 1 : SIZE_MAX;
    say("batch of %d that is refused, %d, on stream %d", batch.count, (int)how, batch.slot);
    spoil(how, &stream);
    bool has_failed = one_in(2);
    CUresult result = call_refused(how, stream, has_failed ? &failed : NULL);
    if (result != CUDA_ERROR_INVALID_VALUE)
        fail("a batch to be refused, %d, returned %d", (int)how, (int)result);
    if (has_failed && failed != wanted)
        fail("copy %zu was refused, not %zu", failed, wanted);
    if (how == BAD_COPY)
        do_context_sync();
    world.result_used = used;
}

/* ---- sources that are filled in the order of their stream ---- */

static struct filling {
    unsigned char *bytes;
    size_t size_bytes;
    unsigned char values[BUFFER_BYTES];
} filling;

static void fill_in_order(void *unused)
{
    (void)unused;
    usleep(300);
    memcpy(filling.bytes, filling.values, filling.size_bytes);
}

/* A host function fills the buffer, and a batch behind it reads that. */
static void act_fill(void)
{
    int at = pick_buffer();
    struct copy copy = {.way = TO_DEVICE};
    if (at == NOBODY || world.op_count + 2 > OPS_MAX || world.arrival_count == OPS_MAX)
        return;
    struct buffer *buffer = &world.buffers[at];
    copy.src = (struct area){at, buffer->life, 0, buffer->size_bytes, buffer->size_bytes, 1};
    if (!place(&copy))
        return;
    do_context_sync();
    batch.is_3d = one_in(3);
    batch.slot = below(STREAMS);
    batch.count = 1;
    batch.copies[0] = copy;
    pick_orders();
    batch.copies[0].order = batch.attributes[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    filling.bytes = buffer->bytes;
    filling.size_bytes = buffer->size_bytes;
    fill_random(filling.values, buffer->size_bytes);
    say("a function on stream %d fills buffer %d", batch.slot, at);
    oracle_add_node(&world.oracle, world.slots[batch.slot].stream);
    CHECK(cuLaunchHostFunc(world.slots[batch.slot].handle, fill_in_order, NULL));
    for (int i = 0; i < STREAMS; i++)
        world.slots[i].is_unclear |= i == batch.slot || (is_blocking(i) && is_blocking(batch.slot));
    memcpy(buffer->expected, filling.values, buffer->size_bytes);
    describe_batch();
    make_arguments();
    draw_batch();
    CHECK((batch.is_3d ? call_3d : call_flat)(world.slots[batch.slot].handle, NULL));
    do_context_sync();
}

#endif
