/* Graphs that allocate, free and tell by values, in the kind NODES: captured, or made by hand.
 *
 * A block may be allocated by the launch of a graph, and freed by that of another one, or in a
 * stream's order. The library does not look at the launch that allocates, and forgets what was done
 * there before. So the program orders behind it what uses the block, and the launch behind the
 * free; the free by a node is a use like any other (SC502).
 *
 * A further graph is a chain of copies and memsets of blocks, which the first of its nodes may
 * allocate memory for that its last one frees. Some of its nodes may write a value. What stands
 * before that is held against earlier work, and nothing later against it: the program orders that,
 * too. Host memory behind which such a node tells is learnt of first. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_GRAPH_MEMORY_H
#define SC_TESTS_FUZZ_RANDOM_GRAPH_MEMORY_H

/* ---- nodes, one behind the other ---- */

static struct chain {
    CUgraph graph;
    CUgraphNode last; /* NULL: none yet */
    CUstream stream;  /* that captures; NULL: nodes are added by hand */
} chain;

static void begin_chain(void)
{
    int slot = OWN_STREAM + below(world.slot_count - OWN_STREAM);
    chain = (struct chain){.stream = one_in(2) ? world.slots[slot].handle : NULL};
    if (chain.stream)
        CHECK(cuStreamBeginCapture(chain.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    else
        CHECK(cuGraphCreate(&chain.graph, 0));
}

struct chain_exec {
    CUgraphExec handle; /* NULL: none */
    int last;           /* launch, a node of the oracle */
};

/* The graph is gone then: an exec keeps what it needs. */
static struct chain_exec end_chain(void)
{
    struct chain_exec exec = {.last = ORACLE_NONE};
    if (chain.stream)
        CHECK(cuStreamEndCapture(chain.stream, &chain.graph));
    CHECK(cuGraphInstantiateWithFlags(&exec.handle, chain.graph, 0));
    CHECK(cuGraphDestroy(chain.graph));
    return exec;
}

static CUdeviceptr chain_allocation(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
        .bytesize = DEVICE_BLOCK_BYTES};
    if (chain.stream)
        CHECK(cuMemAllocAsync(&params.dptr, DEVICE_BLOCK_BYTES, chain.stream));
    else
        CHECK(cuGraphAddMemAllocNode(&chain.last, chain.graph, &chain.last, chain.last != NULL,
                                     &params));
    return params.dptr;
}

static void chain_free(CUdeviceptr address)
{
    if (chain.stream)
        CHECK(cuMemFreeAsync(address, chain.stream));
    else
        CHECK(cuGraphAddMemFreeNode(&chain.last, chain.graph, &chain.last, chain.last != NULL,
                                    address));
}

static void chain_fill(CUdeviceptr to, unsigned char value, size_t size_bytes)
{
    const CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = to, .value = value, .elementSize = 1, .width = size_bytes, .height = 1};
    if (chain.stream)
        CHECK(cuMemsetD8Async(to, value, size_bytes, chain.stream));
    else
        CHECK(cuGraphAddMemsetNode(&chain.last, chain.graph, &chain.last, chain.last != NULL, &fill,
                                   baton.context));
}

static void chain_copy(CUdeviceptr to, CUdeviceptr from, size_t size_bytes)
{
    const CUDA_MEMCPY3D copy = {.WidthInBytes = size_bytes,
                                .Height = 1,
                                .Depth = 1,
                                .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = from,
                                .dstDevice = to};
    if (chain.stream)
        CHECK(cuMemcpyDtoDAsync(to, from, size_bytes, chain.stream));
    else
        CHECK(cuGraphAddMemcpyNode(&chain.last, chain.graph, &chain.last, chain.last != NULL, &copy,
                                   baton.context));
}

/* The simulated driver makes such nodes in captures only. */
static void chain_value(CUdeviceptr word, cuuint32_t value)
{
    CHECK(cuStreamWriteValue32(chain.stream, word, value, 0));
}

/* ---- launches ---- */

static void give_exec(struct chain_exec *exec)
{
    if (exec->handle)
        CHECK(cuGraphExecDestroy(exec->handle));
    exec->handle = NULL;
}

/* Its node, before the driver is called. */
static int draw_chain(const struct chain_exec *exec, int slot)
{
    int stream = enter(slot);
    int node = oracle_add_node(&world.oracle, stream);
    oracle_add_edge(&world.oracle.nodes[node], exec->last);
    note_unclear(stream);
    return node;
}

static void launch_chain(struct chain_exec *exec, int slot, int node)
{
    CHECK(cuGraphLaunch(exec->handle, world.slots[slot].handle));
    exec->last = node;
}

/* ---- blocks that graphs allocate and free ---- */

static struct graph_memory {
    struct chain_exec makes, frees;
    CUdeviceptr address;
    struct device_use freed; /* the last free, which the next launch that allocates comes after */
} graph_memories[DEVICE_BLOCKS];

static void come_after_free(const struct device_use *freed, int slot)
{
    struct oracle_set before;
    reach_next(slot, &before);
    if (freed->life && !is_known_done(freed->node) && !before.has[freed->node])
        order_use(freed, slot);
}

static void allocate_by_graph(int at, int slot)
{
    struct graph_memory *memory = &graph_memories[at];
    struct device_use use = use_of_all(at, slot);
    if (!memory->makes.handle) {
        begin_chain();
        memory->address = chain_allocation();
        if (one_in(2))
            chain_fill(memory->address, 1, DEVICE_BLOCK_BYTES);
        memory->makes = end_chain();
    }
    come_after_free(&memory->freed, slot);
    int node = draw_chain(&memory->makes, slot);
    launch_chain(&memory->makes, slot, node);
    shared.blocks[at].address = memory->address;
    use.unseen = true;
    keep_use(use, node);
    leave(slot);
}

static void note_free_of_graph(int at, struct device_use use, int node)
{
    use.node = node;
    graph_memories[at].freed = use;
}

static void free_by_graph(int at)
{
    struct graph_memory *memory = &graph_memories[at];
    struct device_use use = use_of_all(at, pick_slot());
    use.of_allocation = true;
    if (!memory->frees.handle) {
        begin_chain();
        chain_free(memory->address);
        memory->frees = end_chain();
    }
    order_before_use(&use);
    say("a graph frees device block %d on slot %d; node %d", at, use.slot, world.oracle.node_count);
    int node = draw_chain(&memory->frees, use.slot);
    judge_use(&use, node);
    launch_chain(&memory->frees, use.slot, node);
    note_free_of_graph(at, use, node);
    leave(use.slot);
}

/* Nothing is in flight, and nothing of it is allocated any more. */
static void end_graph_memories(void)
{
    for (int at = 0; at < DEVICE_BLOCKS; at++) {
        give_exec(&graph_memories[at].makes);
        give_exec(&graph_memories[at].frees);
        graph_memories[at].freed.life = 0;
    }
}

/* ---- chains of blocks ---- */

enum { CHAINS = 2, STEPS = 4, WORDS = 256 };
enum step_kind { FILLS, COPIES, TAKES_OWN, WRITES_VALUE };

struct step {
    enum step_kind kind;
    struct device_use to, from;
    unsigned char value;
};

static struct step_chain {
    struct chain_exec exec;
    int count;
    struct step steps[STEPS];
    bool has_own;
    unsigned char own_value;
    cuuint32_t told; /* the value that is written, another one for each chain */
} step_chains[CHAINS];

static bool pick_step(const struct step_chain *steps, struct step *step)
{
    int at = below(DEVICE_BLOCKS), other = (at + 1) % DEVICE_BLOCKS;
    *step = (struct step){.kind = (enum step_kind)below(4), .value = (unsigned char)draw()};
    if ((step->kind == TAKES_OWN && !steps->has_own) ||
        (step->kind == WRITES_VALUE && !chain.stream))
        step->kind = FILLS;
    if (!shared.blocks[at].alive || (step->kind == COPIES && !shared.blocks[other].alive))
        return false;
    step->to = use_of(at, 0, false);
    step->from = use_of(other, 0, true);
    step->from.size_bytes = step->to.size_bytes;
    step->from.offset = DEVICE_BLOCK_BYTES - step->to.size_bytes;
    return true;
}

/* Behind all else of the device's memory. Chains of before may still write theirs. */
static CUdeviceptr place_of_word(cuuint32_t told)
{
    size_t at = told % WORDS;
    return world.device + DEVICE_BYTES + SOURCE_BYTES - (at + 1) * sizeof(cuuint32_t);
}

static CUdeviceptr word_of(const struct step_chain *steps)
{
    return place_of_word(steps->told);
}

static void add_step(const struct step_chain *steps, const struct step *step, CUdeviceptr own)
{
    switch (step->kind) {
    case FILLS:
        chain_fill(address_of_use(&step->to), step->value, step->to.size_bytes);
        break;
    case COPIES:
        chain_copy(address_of_use(&step->to), address_of_use(&step->from), step->to.size_bytes);
        break;
    case TAKES_OWN:
        chain_copy(address_of_use(&step->to), own + step->to.offset, step->to.size_bytes);
        break;
    case WRITES_VALUE:
        chain_value(word_of(steps), steps->told);
        break;
    }
}

static void make_step_chain(struct step_chain *steps)
{
    static cuuint32_t values;
    CUdeviceptr own = 0;
    steps->count = 0;
    steps->told = ++values;
    steps->has_own = one_in(2);
    steps->own_value = (unsigned char)draw();
    begin_chain();
    for (int left = 1 + below(STEPS); left > 0; left--)
        steps->count += pick_step(steps, &steps->steps[steps->count]);
    if (steps->has_own) {
        own = chain_allocation();
        chain_fill(own, steps->own_value, DEVICE_BLOCK_BYTES);
    }
    for (int i = 0; i < steps->count; i++)
        add_step(steps, &steps->steps[i], own);
    if (steps->has_own)
        chain_free(own);
    steps->exec = end_chain();
    say("a chain of %d%s", steps->count, steps->has_own ? ", with memory of its own" : "");
}

static int list_step_uses(const struct step_chain *steps, int slot, struct device_use *uses)
{
    int count = 0, told = 0;
    for (int i = 0; i < steps->count; i++) {
        const struct step *step = &steps->steps[i];
        if (step->kind == WRITES_VALUE)
            told = count;
        if (step->kind == COPIES)
            uses[count++] = step->from;
        if (step->kind != WRITES_VALUE)
            uses[count++] = step->to;
    }
    for (int i = 0; i < count; i++) {
        uses[i].slot = slot;
        uses[i].stream = world.slots[slot].stream;
        uses[i].ends_unseen = i < told;
    }
    return count;
}

static bool can_use_all(const struct device_use *uses, int count)
{
    bool can = device_uses.count + 2 * STEPS < DEVICE_USES_MAX;
    for (int i = 0; i < count; i++)
        can &= shared.blocks[uses[i].block].alive && uses[i].life == life_of(uses[i].block) &&
               count_uses(uses[i].block) < USES_AT_A_TIME / 2;
    return can;
}

static bool writes_value(const struct step_chain *steps)
{
    bool writes = false;
    for (int i = 0; i < steps->count; i++)
        writes |= steps->steps[i].kind == WRITES_VALUE;
    return writes;
}

/* Of operations before such a launch the host may hear by the value that they are done. */
static void learn_what_is_before(int slot)
{
    struct oracle_set before;
    for (int i = 0; i < world.copy_count; i++) {
        reach_next(slot, &before);
        if (in_flight(&world.copies[i]) && before.has[world.copies[i].node])
            learn(&world.copies[i]);
    }
}

static void note_may_be_known(int node, bool is_heard_of)
{
    struct oracle_set before = {{false}}, asked = {{false}};
    oracle_reach(&world.oracle, node, &before);
    oracle_reach_asked(&world.oracle, node, &asked);
    for (int i = 0; i < device_uses.count; i++) {
        struct device_use *use = &device_uses.list[i];
        use->may_be_known |= before.has[use->node];
        use->is_heard_of |= asked.has[use->node] && is_heard_of;
    }
}

/* Nothing of an earlier launch may be about to write the word. */
static bool can_hear(const struct step_chain *steps)
{
    return writes_value(steps) && is_known_done(steps->exec.last);
}

/* The program looks at the device's memory itself, as it would at a flag in pinned memory. */
static void hear_value(const struct step_chain *steps)
{
    const volatile cuuint32_t *word = (const volatile cuuint32_t *)word_of(steps);
    while (*word != steps->told)
        usleep(20);
    say("the value of chain %d was written", (int)(steps - step_chains));
}

static void move_step_bytes(const struct step_chain *steps)
{
    for (int i = 0; i < steps->count; i++) {
        const struct step *step = &steps->steps[i];
        if (step->kind == COPIES)
            memcpy(shadow_of_use(&step->to), shadow_of_use(&step->from), step->to.size_bytes);
        else if (step->kind != WRITES_VALUE)
            memset(shadow_of_use(&step->to), step->kind == FILLS ? step->value : steps->own_value,
                   step->to.size_bytes);
    }
}

static void launch_steps(struct step_chain *steps, int slot)
{
    struct device_use uses[2 * STEPS];
    int count = list_step_uses(steps, slot, uses);
    if (!can_use_all(uses, count))
        return;
    for (int round = 0; round < count; round++)
        for (int i = 0; i < count; i++)
            order_before_use(&uses[i]);
    if (writes_value(steps))
        learn_what_is_before(slot);
    say("launch chain %d on slot %d; node %d", (int)(steps - step_chains), slot,
        world.oracle.node_count);
    int node = draw_chain(&steps->exec, slot);
    for (int i = 0; i < count; i++) {
        say("  %s device block %d, %zu bytes at %zu%s", uses[i].reads ? "from" : "to",
            uses[i].block, uses[i].size_bytes, uses[i].offset,
            uses[i].ends_unseen ? ", before a value" : "");
        judge_use(&uses[i], node);
    }
    bool hears = can_hear(steps) && one_in(2);
    if (hears)
        *(volatile cuuint32_t *)word_of(steps) = 0;
    launch_chain(&steps->exec, slot, node);
    if (hears)
        hear_value(steps);
    if (writes_value(steps))
        note_may_be_known(node, hears);
    for (int i = 0; i < count; i++) {
        uses[i].unseen = uses[i].ends_unseen;
        uses[i].is_heard_of = uses[i].ends_unseen && hears;
        keep_use(uses[i], node);
    }
    move_step_bytes(steps);
    leave(slot);
}

static void act_chain(void)
{
    struct step_chain *steps = &step_chains[below(CHAINS)];
    if (!world.watches_device || capture.open)
        return;
    if (!steps->exec.handle)
        make_step_chain(steps);
    if (steps->count > 0) /* a launch without work orders nothing */
        launch_steps(steps, pick_slot());
    if (one_in(4))
        give_exec(&steps->exec);
}

static void end_chains(void)
{
    for (int i = 0; i < CHAINS; i++)
        give_exec(&step_chains[i].exec);
    end_graph_memories();
}

#endif
