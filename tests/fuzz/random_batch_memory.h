/* Memory of batches: how it comes and goes, and how the host touches it. A part of
 * random_batches.c.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_BATCH_MEMORY_H
#define SC_TESTS_FUZZ_RANDOM_BATCH_MEMORY_H

/* ---- buffers ---- */

static size_t pick_size(void)
{
    static const size_t sizes[] = {24,         700,       PAGE,      3 * PAGE,    20000,
                                   32 * 1024,  32769,     16 * PAGE, 65537,       100000,
                                   128 * 1024, 33 * PAGE, 200000,    BUFFER_BYTES};
    return sizes[below(sizeof sizes / sizeof *sizes)];
}

static void *map_pages(size_t size_bytes)
{
    void *pages =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        fail("no memory");
    return pages;
}

static void *take_memory(int kind, size_t size_bytes)
{
    void *bytes = NULL;
    CUdeviceptr managed = 0;
    switch (kind) {
    case PAGES:
        return map_pages(size_bytes);
    case PINNED:
        CHECK(cuMemHostAlloc(&bytes, size_bytes, 0));
        return bytes;
    case MANAGED:
        CHECK(cuMemAllocManaged(&managed, size_bytes, CU_MEM_ATTACH_GLOBAL));
        return (void *)(uintptr_t)managed;
    default:
        bytes = malloc(size_bytes);
        if (!bytes)
            fail("no memory");
        if (kind == REGISTERED)
            CHECK(cuMemHostRegister(bytes, size_bytes, 0));
        return bytes;
    }
}

/* What the driver waits for, the host knows. */
static void give_memory(int kind, void *bytes, size_t size_bytes, bool is_idle)
{
    switch (kind) {
    case PAGES:
        munmap(bytes, size_bytes);
        return;
    case PINNED:
        CHECK(cuMemFreeHost(bytes));
        break;
    case MANAGED:
        CHECK(cuMemFree((CUdeviceptr)(uintptr_t)bytes));
        break;
    case REGISTERED:
        CHECK(cuMemHostUnregister(bytes));
        know_context();
        free(bytes);
        return;
    default:
        free(bytes);
        return;
    }
    if (is_idle || kind == MANAGED || !world.healed)
        know_context();
}

static void add_buffer(int at, int kind)
{
    struct buffer *buffer = &world.buffers[at];
    buffer->kind = kind;
    buffer->life = ++world.lives;
    buffer->is_crowded = false;
    buffer->size_bytes = pick_size();
    buffer->bytes = take_memory(kind, buffer->size_bytes);
    buffer->alive = true;
    say("buffer %d is %zu %s bytes at %p", at, buffer->size_bytes, kind_names[kind],
        (void *)buffer->bytes);
    fill_random(buffer->expected, buffer->size_bytes);
    memcpy(buffer->bytes, buffer->expected, buffer->size_bytes);
}

static int pick_buffer(void)
{
    int at = below(BUFFERS);
    return world.buffers[at].alive ? at : NOBODY;
}

static void check_buffer(int at)
{
    const struct buffer *buffer = &world.buffers[at];
    if (data_is_defined())
        compare("buffer", at, buffer->bytes, buffer->expected, buffer->size_bytes);
}

static void act_renew(void)
{
    int at = pick_buffer();
    if (at == NOBODY)
        return;
    learn_all_on(at);
    say("read and write buffer %d", at);
    check_buffer(at);
    fill_random(world.buffers[at].expected, world.buffers[at].size_bytes);
    memcpy(world.buffers[at].bytes, world.buffers[at].expected, world.buffers[at].size_bytes);
}

/* ---- frees ---- */

/* Nothing is healed in mode=report: the driver's threads would write into others' memory, or die.
 */
static bool may_free_in_flight(int at)
{
    const struct buffer *buffer = &world.buffers[at];
    return !world.correct && !buffer->is_crowded && buffer->kind != MANAGED &&
           (world.healed || buffer->kind == PINNED || buffer->kind == REGISTERED);
}

static int code_of_free(int kind, const struct op *op)
{
    switch (kind) {
    case PAGES:
        return UNMAPPED;
    case PINNED:
        return FREED_PINNED;
    case REGISTERED:
        return UNREGISTERED;
    default:
        return op->direction == H2D ? FREED_SOURCE : FREED_DESTINATION;
    }
}

/* The operations are the library's affair from then on. */
static bool take_down(int at)
{
    bool is_idle = true;
    for (int i = 0; i < world.op_count; i++) {
        struct op *op = &world.ops[i];
        if (!is_on(op, at) || !in_flight(op))
            continue;
        if (op->direction == H2D && !op->is_compared && is_changed(op))
            expect(OVERWRITTEN, false, op);
        expect(code_of_free(world.buffers[at].kind, op), true, op);
        op->tracked = false;
        is_idle = false;
    }
    return is_idle;
}

/* Somebody else gets memory of the same size, which is to stay as it is. */
static void give_to_another(int kind, size_t size_bytes)
{
    struct block *block = &world.blocks[world.block_count++];
    *block = (struct block){kind, take_memory(kind, size_bytes), size_bytes, (unsigned char)draw()};
    memset(block->bytes, block->fill, size_bytes);
}

static void act_free(void)
{
    int at = pick_buffer();
    if (at == NOBODY || world.block_count == BLOCKS)
        return;
    struct buffer *buffer = &world.buffers[at];
    if (!may_free_in_flight(at))
        learn_all_on(at);
    say("give back buffer %d", at);
    bool is_idle = take_down(at);
    if (is_idle)
        check_buffer(at);
    buffer->alive = false;
    give_memory(buffer->kind, buffer->bytes, buffer->size_bytes, is_idle);
    give_to_another(buffer->kind, buffer->size_bytes);
    if (one_in(2))
        add_buffer(at, one_in(2) ? buffer->kind : below(KINDS));
}

static void check_block(int at)
{
    const struct block *block = &world.blocks[at];
    for (size_t i = 0; i < block->size_bytes; i++)
        if (block->bytes[i] != block->fill)
            fail("%s block %d: byte %zu of %zu was overwritten", kind_names[block->kind], at, i,
                 block->size_bytes);
}

/* ---- touches ---- */

/* Is the byte on a page of which the operation has all, and that is guarded for it? */
static bool is_guarded_at(const struct op *op, size_t offset)
{
    int kind = world.buffers[op->area.buffer].kind;
    return kind != MANAGED && !op->is_unsure && has_page_of(&op->area, offset);
}

/* Would the library heal a touch of this byte? */
static bool is_healed_at(const struct op *op, size_t offset)
{
    int kind = world.buffers[op->area.buffer].kind;
    if (op->is_fragile || op->is_unsure)
        return false;
    if (op->direction == H2D && op->finding == COMPARED)
        return true;
    if (op->direction == H2D && (kind == HEAP || kind == PAGES) && !op->is_3d)
        return true; /* guarded, and beside the guarded pages read from snapshots */
    return is_guarded_at(op, offset);
}

static bool is_hurt(const struct op *op, int at, size_t offset, bool write)
{
    return in_flight(op) && is_on(op, at) && has_byte(&op->area, offset) &&
           (write || op->direction == D2H);
}

/* Where it is not certain that a guard was met, the next touch may be found all the same. */
static void hit(struct op *op, size_t offset, bool write)
{
    bool is_guarded = op->area.rows == 1 && is_guarded_at(op, offset);
    int code = op->direction == H2D ? OVERWRITTEN : write ? WRITTEN_EARLY : READ_EARLY;
    if (op->is_hit || (op->direction == H2D && op->finding == COMPARED))
        return;
    expect(code, world.exact && is_guarded && op->finding == GUARDED, op);
    op->is_hit = is_guarded;
}

/* A touch beside what an operation has on the page lets the page go. */
static void touch_page(int at, size_t offset, bool write)
{
    struct area byte = {at, world.buffers[at].life, offset, 1, 1, 1};
    for (int i = 0; i < world.op_count; i++) {
        struct op *op = &world.ops[i];
        if (in_flight(op) && is_on(op, at) && share_a_page(&op->area, &byte) &&
            !has_byte(&op->area, offset) && (write || op->direction == D2H))
            op->is_unsure = true;
    }
}

static void touch_byte(int at, size_t offset, bool write)
{
    struct buffer *buffer = &world.buffers[at];
    volatile unsigned char *bytes = buffer->bytes;
    for (int i = 0; i < world.op_count; i++) {
        struct op *op = &world.ops[i];
        if (is_hurt(op, at, offset, write) &&
            (world.correct || buffer->is_crowded || (world.healed && !is_healed_at(op, offset))))
            learn(op);
    }
    say("%s byte %zu of buffer %d", write ? "write" : "read", offset, at);
    for (int i = 0; i < world.op_count; i++)
        if (is_hurt(&world.ops[i], at, offset, write))
            hit(&world.ops[i], offset, write);
    touch_page(at, offset, write);
    if (write) {
        buffer->expected[offset] ^= (unsigned char)(1 + below(255));
        bytes[offset] = buffer->expected[offset];
        return;
    }
    unsigned char found = bytes[offset];
    if (data_is_defined() && found != buffer->expected[offset])
        fail("the host read %02x, not %02x, at %zu of buffer %d", found, buffer->expected[offset],
             offset, at);
}

static const struct op *pick_op(void)
{
    const struct op *found = NULL;
    for (int i = 0, seen = 0; i < world.op_count; i++)
        if (in_flight(&world.ops[i]) && is_on(&world.ops[i], world.ops[i].area.buffer) &&
            one_in(++seen))
            found = &world.ops[i];
    return found;
}

static size_t pick_offset(const struct area *area)
{
    size_t row = (size_t)below((int)area->rows) * area->pitch;
    switch (below(4)) {
    case 0:
        return area->offset + row;
    case 1:
        return area->offset + row + area->width - 1;
    case 2: /* beside it, often */
        return area->offset + row + area->width;
    default:
        return area->offset + row + (size_t)below((int)area->width);
    }
}

static void act_touch(void)
{
    const struct op *op = pick_op();
    bool write = one_in(2);
    if (!op || world.buffers[op->area.buffer].kind == MANAGED)
        return;
    int at = op->area.buffer;
    size_t offset = pick_offset(&op->area);
    if (offset < world.buffers[at].size_bytes)
        touch_byte(at, offset, write);
}

#endif
