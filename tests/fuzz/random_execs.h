/* Pageable blocks, which only graphs copy; graphs that become execs or children, and their end. A
 * part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_EXECS_H
#define SC_TESTS_FUZZ_RANDOM_EXECS_H

/* ---- pageable blocks ---- */

static void add_pageable(struct buffer *block)
{
    block->size_bytes =
        world.healed && !one_in(5) ? 8 + (size_t)below(SMALL_BYTES) : pick_size(REGISTERED);
    block->bytes = take_block(block->size_bytes);
    block->memory = ++world.lives;
    block->alive = true;
    fill_random(block->expected, block->size_bytes);
    memcpy(block->bytes, block->expected, block->size_bytes);
    say("pageable block %d is %zu bytes at %p", (int)(block - pageables), block->size_bytes,
        (void *)block->bytes);
}

static void check_pageable(const struct buffer *block)
{
    if (data_is_defined())
        compare("pageable block", (int)(block - pageables), block->bytes, block->expected,
                block->size_bytes);
}

static void act_pageable_block(void)
{
    struct buffer *block = &pageables[below(PAGEABLES)];
    bool ends = one_in(3);
    /* A block that was freed and is still registered would be no pageable one. */
    if (ends && (world.stale_count || world.block_count == BLOCKS || !can_bury(block)))
        return;
    if (ends) {
        say("free pageable block %d", (int)(block - pageables));
        check_pageable(block);
        bury(block, &(struct taken){0});
        block->alive = false;
        give_to_another(block->bytes, block->size_bytes, true);
        add_pageable(block);
    } else {
        say("read and write pageable block %d", (int)(block - pageables));
        check_pageable(block);
        fill_random(block->expected, block->size_bytes);
        memcpy(block->bytes, block->expected, block->size_bytes);
    }
}

/* ---- execs and their ends ---- */

static void instantiate(struct graph *graph)
{
    CUgraph clone = NULL;
    say("instantiate graph %d", (int)(graph - graphs));
    if (can_be_copied(graph) && one_in(4))
        CHECK(cuGraphClone(&clone, graph->handle));
    need_permission();
    CHECK(cuGraphInstantiateWithFlags(&graph->exec, clone ? clone : graph->handle, 0));
    if (clone)
        CHECK(cuGraphDestroy(clone));
    graph->last = ORACLE_NONE;
    graph->made = graph->own;
    graph->is_original = !clone;
    graph->is_reshaped = graph->races_told = false;
}

static void act_instantiate(void)
{
    struct graph *graph = pick_graph(has_no_exec);
    if (graph)
        instantiate(graph);
}

/* A copy of another graph, behind all that there is. */
static void add_child(struct graph *graph)
{
    CUgraphNode nodes[64], added;
    size_t count = sizeof nodes / sizeof *nodes;
    const struct graph *child = pick_graph(has_no_exec);
    if (!child || child == graph || !can_be_copied(child) ||
        graph->own.count + child->own.count > GRAPH_NODES ||
        !can_add_uses(&graph->own, &child->own))
        return;
    /* KNOWN: not judged is what stands before a record or a host node in a child, and behind a host
     * node or one that waits. */
    if (child->own.record_count || child->own.has_host || graph->own.has_host ||
        child->own.wait_count || graph->own.wait_count)
        return;
    say("graph %d becomes a child of %d", (int)(child - graphs), (int)(graph - graphs));
    CHECK(cuGraphGetNodes(graph->handle, nodes, &count));
    CHECK(cuGraphAddChildGraphNode(&added, graph->handle, nodes, count, child->handle));
    graph->is_reshaped = true;
    for (int i = 0; i < child->own.count; i++) {
        struct graph_node *copy = &graph->own.list[graph->own.count++];
        *copy = child->own.list[i];
        copy->name = NULL;
        copy->added = false;
    }
    add_uses(&graph->own, &child->own);
}

static void destroy_exec(struct graph *graph)
{
    say("destroy exec %d", (int)(graph - graphs));
    need_permission();
    CHECK(cuGraphExecDestroy(graph->exec));
    graph->exec = NULL;
}

static void destroy_graph(struct graph *graph)
{
    say("destroy graph %d", (int)(graph - graphs));
    CHECK(cuGraphDestroy(graph->handle));
    graph->handle = NULL;
}

static void act_destroy(void)
{
    struct graph *graph = &graphs[below(GRAPHS)];
    if (graph->exec && one_in(2))
        destroy_exec(graph);
    else if (graph->handle)
        destroy_graph(graph);
}

/* ---- programs ---- */

static void begin_graphs(void)
{
    corpse_count = cell_count = ghost_count = 0;
    places = 0;
    world.detour = ORACLE_NONE;
    for (int i = 0; i < PAGEABLES; i++)
        add_pageable(&pageables[i]);
}

/* Nothing is in flight any more. */
static void check_cells(void)
{
    for (int i = 0; i < cell_count && data_is_defined(); i++)
        if (cells[i].written_by != ORACLE_NONE && !cells[i].tainted)
            compare("what the device got by cell", i,
                    world.landed + (cells[i].device_offset - SOURCE_BYTES),
                    world.expected + cells[i].device_offset, cells[i].size_bytes);
}

static void end_graphs(void)
{
    for (int i = 0; i < GRAPHS; i++) {
        if (graphs[i].handle)
            destroy_graph(&graphs[i]);
        if (graphs[i].exec)
            destroy_exec(&graphs[i]);
    }
    for (int i = 0; i < PAGEABLES; i++) {
        check_pageable(&pageables[i]);
        give_block(pageables[i].bytes, pageables[i].size_bytes);
        pageables[i].alive = false;
    }
}

#endif
