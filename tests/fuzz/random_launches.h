/* Launches: the operations that they are, the freed memory that they use, and the bytes they move.
 *
 * The operations are drawn in the order in which the library makes them: what stands before the
 * first record of an event, before the next one, and so on; of these sources, then destinations,
 * then memsets, by address. Bytes move in the order of the nodes. A part of
 * random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_LAUNCHES_H
#define SC_TESTS_FUZZ_RANDOM_LAUNCHES_H

/* ---- operations ---- */

static bool comes_before(const struct copy *a, const struct copy *b)
{
    if (a->told != b->told)
        return !b->told || (a->told && a->told < b->told);
    return a->direction != b->direction ? a->direction < b->direction : a->address < b->address;
}

static void insert(struct copy *list, int count, const struct copy *copy)
{
    for (; count > 0 && comes_before(copy, &list[count - 1]); count--)
        list[count] = list[count - 1];
    list[count] = *copy;
}

static int join_neighbours(struct copy *list, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        struct copy *last = kept ? &list[kept - 1] : NULL;
        if (!last || last->direction != list[i].direction || last->buffer != list[i].buffer ||
            last->told != list[i].told || list[i].address > end_of(last))
            list[kept++] = list[i];
        else if (end_of(&list[i]) > end_of(last))
            last->size_bytes = end_of(&list[i]) - last->address;
    }
    return kept;
}

static struct graph_nodes enabled_nodes(const struct graph *graph)
{
    struct graph_nodes enabled = graph->made;
    enabled.count = 0;
    for (int i = 0; i < graph->made.count; i++)
        if (!graph->made.list[i].disabled)
            enabled.list[enabled.count++] = graph->made.list[i];
    return enabled;
}

/* Those on memory that is alive. */
static int list_operations(struct graph *graph, const struct graph_nodes *nodes, int slot,
                           struct copy *list)
{
    int count = 0;
    for (int i = 0; i < nodes->count; i++) {
        const struct graph_node *node = &nodes->list[i];
        struct copy copy = {.direction = node->direction,
                            .slot = slot,
                            .buffer = (int)(node->buffer - world.buffers),
                            .life = node->buffer->life,
                            .offset = node->offset,
                            .size_bytes = node->size_bytes,
                            .address = node->address,
                            .graph = graph,
                            .told = node->told};
        if (!node->freed && !is_pageable(node))
            insert(list, count++, &copy);
    }
    return join_neighbours(list, count);
}

static bool has_freed(const struct graph_nodes *nodes)
{
    bool found = false;
    for (int i = 0; i < nodes->count; i++)
        found |= nodes->list[i].freed;
    return found;
}

/* Memory that is registered again is not what the graph was made for, and not judged. */
static bool can_launch(const struct graph_nodes *nodes, const struct copy *operations, int count)
{
    const struct graph_launch_uses uses = list_uses(nodes);
    bool can = can_use(&uses) && world.copy_count + count <= COPIES_MAX &&
               ghost_count + GRAPH_NODES <= GHOSTS && !(world.correct && has_freed(nodes));
    for (int i = 0; i < nodes->count; i++) {
        const struct graph_node *node = &nodes->list[i];
        const struct corpse *corpse = node->freed ? corpse_of(node->memory) : NULL;
        can &= !node->freed || (corpse && corpse->usable && !is_alive(node));
    }
    for (int i = 0; i < count; i++)
        can &= count_in_flight(operations[i].buffer) + count <= PER_BUFFER_MAX;
    return can;
}

static void draw_operation(struct copy *operation)
{
    for (int i = 0; i < world.copy_count; i++)
        if (in_flight(&world.copies[i]) && is_repeated(&world.copies[i], operation)) {
            compare_source(&world.copies[i]);
            forget_copy(&world.copies[i]);
        }
    operation->tracked = true;
    world.copies[world.copy_count++] = *operation;
}

/* Freed memory is written as any other is, and so is pageable memory: sources that share a page
 * with it are compared. */
static void seal_unlisted(const struct graph_nodes *nodes)
{
    for (int i = 0; i < nodes->count; i++) {
        const struct graph_node *node = &nodes->list[i];
        struct copy writer = {.address = node->address, .size_bytes = node->size_bytes};
        if ((node->freed || is_pageable(node)) && node->direction != H2D)
            seal(&writer);
    }
}

/* What was in flight when memory was freed comes before launches that use it all the same. `next`:
 * the operation that the library looks at next, or NULL. */
static void heal_freed(const struct graph_nodes *nodes, const struct copy *next, int launch)
{
    for (int i = 0; i < nodes->count && world.healed; i++) {
        const struct graph_node *node = &nodes->list[i];
        const struct copy user = {
            .direction = node->direction, .address = node->address, .told = node->told};
        const struct corpse *corpse = node->freed ? corpse_of(node->memory) : NULL;
        bool heals = corpse && (!next || comes_before(&user, next)) &&
                     (corpse->taken.written || node->direction != H2D);
        for (int k = 0; heals && k < corpse->taken.count; k++)
            oracle_heal(&world.oracle, launch, corpse->taken.nodes[k]);
    }
}

/* The nodes of a launch by the steps that they are of: of each step the last one. */
struct drawn {
    int launch; /* the first one, which all has to come before */
    bool begun; /* there is another node already */
    int last[GRAPH_RECORDS + 2];
};

static int next_node(struct drawn *drawn, int stream, int told)
{
    int node = drawn->begun ? oracle_add_node(&world.oracle, stream) : drawn->launch;
    drawn->begun = true;
    drawn->last[told] = node;
    return node;
}

/* What a node tells of: the last node of the steps up to its own, or what the launch comes after,
 * if there is none. */
static int draw_told(const struct drawn *drawn, int told)
{
    for (; told > 0; told--)
        if (drawn->last[told] != ORACLE_NONE)
            return drawn->last[told];
    struct oracle_node *before =
        oracle_loose_node(&world.oracle, world.oracle.nodes[drawn->launch].stream);
    *before = world.oracle.nodes[drawn->launch];
    before->done = false;
    return world.oracle.node_count - 1;
}

static void draw_notifiers(struct graph *graph, const struct graph_nodes *nodes,
                           const struct drawn *drawn)
{
    for (int i = 0; i < nodes->record_count; i++)
        world.events[nodes->records[i]].node = draw_told(drawn, i + 1);
    if (nodes->has_host)
        graph->heard = draw_told(drawn, nodes->record_count + 1);
}

/* Where nodes wait for events, what runs into others was found before the call. */
static void draw_host_step(struct drawn *drawn, const struct graph_nodes *nodes,
                           struct copy *operations, int count, int stream, int told)
{
    for (int i = 0; i < count; i++) {
        if (operations[i].told != told)
            continue;
        operations[i].node = next_node(drawn, stream, told);
        if (!nodes->wait_count)
            meet_unhealed(&operations[i], operations[i].node);
        draw_operation(&operations[i]);
    }
}

/* Where nodes tell, device memory comes behind host memory, step by step; else before all. */
static void draw_steps(struct drawn *drawn, const struct graph_nodes *nodes,
                       struct copy *operations, int count, int stream,
                       struct graph_launch_uses *uses)
{
    bool tells = is_told_of(nodes);
    if (!tells && (uses->device_count || uses->address_count))
        keep_launch_uses(uses, next_node(drawn, stream, 0));
    for (int step = 1; step <= GRAPH_RECORDS + 2; step++) {
        int told = step % (GRAPH_RECORDS + 2); /* what no node tells of comes last */
        draw_host_step(drawn, nodes, operations, count, stream, told);
        if (tells && has_step(uses, told))
            keep_step(uses, told, next_node(drawn, stream, told));
    }
}

/* All that has to come first comes before the first operation; the others follow one by one, those
 * on freed memory last. */
static void draw_launch(struct graph *graph, const struct graph_nodes *nodes,
                        struct copy *operations, int count, int stream,
                        struct graph_launch_uses *uses)
{
    struct drawn drawn = {.launch = oracle_add_node(&world.oracle, stream)};
    int node = drawn.launch;
    for (int i = 0; i < GRAPH_RECORDS + 2; i++)
        drawn.last[i] = ORACLE_NONE;
    oracle_add_edge(&world.oracle.nodes[node], graph->last);
    for (int i = 0; i < count; i++) {
        operations[i].stream = stream;
        protect_launched(&operations[i]);
        heal_freed(nodes, &operations[i], node);
        meet_unordered(&operations[i], node);
        if (nodes->wait_count)
            meet_unhealed(&operations[i], node);
        if (writes_host(&operations[i]))
            seal(&operations[i]);
    }
    seal_unlisted(nodes);
    heal_freed(nodes, NULL, node);
    for (int i = 0; i < nodes->wait_count; i++)
        oracle_add_edge(&world.oracle.nodes[node], world.events[nodes->waits[i]].node);
    judge_launch_uses(uses, node);
    draw_steps(&drawn, nodes, operations, count, stream, uses);
    if (has_freed(nodes))
        oracle_add_node(&world.oracle, stream);
    graph->last = world.oracle.streams[stream].last;
    draw_notifiers(graph, nodes, &drawn);
}

/* Somebody else's block, in mode=report. */
static void spoil_block(const struct corpse *corpse)
{
    for (int i = 0; i < world.block_count; i++)
        if (world.blocks[i].bytes == corpse->bytes && !world.healed)
            world.blocks[i].checked = false;
}

static void use_freed(const struct graph_nodes *nodes, int launch)
{
    for (int i = 0; i < nodes->count; i++) {
        const struct graph_node *node = &nodes->list[i];
        if (!node->freed)
            continue;
        expect_call(GRAPH_FREED, true);
        ghosts[ghost_count++] = (struct ghost){launch, node->memory, node->direction != H2D};
        if (node->direction != H2D)
            spoil_block(corpse_of(node->memory));
    }
}

/* Two unordered launches leave on the device what comes later. */
static void fill_cell(const struct graph_node *node, int launch)
{
    struct oracle_set before = {{false}};
    struct cell *cell = node->cell;
    oracle_reach(&world.oracle, launch, &before);
    if (cell->written_by != ORACLE_NONE && !before.has[cell->written_by])
        cell->tainted = true;
    cell->written_by = launch;
    memcpy(world.expected + cell->device_offset, shadow_of(node), node->size_bytes);
}

/* Pageable sources are read in the call, before anything is done. True: the launch waits. */
static bool move_bytes(const struct graph_nodes *nodes, int launch)
{
    bool waits = false;
    for (int i = 0; i < nodes->count; i++)
        if (nodes->list[i].direction == H2D && is_pageable(&nodes->list[i]))
            fill_cell(&nodes->list[i], launch);
    for (int i = 0; i < nodes->count; i++) {
        const struct graph_node *node = &nodes->list[i];
        if (node->direction == D2H)
            memcpy(shadow_of(node), world.source + node->device_offset, node->size_bytes);
        else if (node->direction == MEMSET)
            memset(shadow_of(node), node->value, node->size_bytes);
        else if (!is_pageable(node))
            fill_cell(node, launch);
        waits |= node->direction == D2H && is_pageable(node);
    }
    return waits;
}

/* The host node has run, and all before it is done. */
static void hear(const struct graph *graph, int run)
{
    struct oracle_set set = {{false}};
    while (atomic_load(&hosts_run) == run)
        usleep(20);
    let_function_return();
    say("the host node of exec %d has run", (int)(graph - graphs));
    oracle_reach(&world.oracle, graph->heard, &set);
    know(&set);
}

/* What orders one of them may be work that the others come behind. */
static void order_before_all(struct copy *operations, int count, int slot,
                             const struct graph_launch_uses *uses)
{
    for (int round = 0; round < 1 + uses->device_count + uses->address_count; round++) {
        for (int i = 0; i < count && world.correct; i++) {
            operations[i].stream = world.slots[slot].stream;
            avoid_conflicts(&operations[i]);
        }
        order_before_uses(uses);
    }
}

static void launch(struct graph *graph, const struct graph_nodes *nodes, int slot)
{
    struct copy operations[GRAPH_NODES];
    for (int i = 0; i < nodes->count; i++)
        if (nodes->list[i].freed)
            learn_ghosts_of(nodes->list[i].memory);
    int count = list_operations(graph, nodes, slot, operations);
    struct graph_launch_uses uses = list_uses(nodes);
    put_uses(&uses, graph, slot, world.slots[slot].stream);
    order_before_all(operations, count, slot, &uses);
    say("launch exec %d on slot %d; node %d", (int)(graph - graphs), slot, world.oracle.node_count);
    expect_races(graph, nodes);
    int stream = enter(slot);
    note_unclear(stream);
    put_uses(&uses, graph, slot, stream);
    draw_launch(graph, nodes, operations, count, stream, &uses);
    use_freed(nodes, graph->last);
    bool waits = move_bytes(nodes, graph->last);
    move_device_bytes(nodes);
    int run = atomic_load(&hosts_run);
    CHECK(cuGraphLaunch(graph->exec, world.slots[slot].handle));
    if (nodes->has_host)
        hear(graph, run);
    if (waits) {
        know_scope(stream, scope_of(stream));
        note_clear(stream);
    }
    if (count > 0 || uses.address_count)
        note_marked(slot);
    leave(slot);
    if (has_freed(nodes) && !world.healed)
        do_stream_sync(slot);
}

static void act_launch(void)
{
    struct copy operations[GRAPH_NODES];
    struct graph *graph = pick_graph(has_exec);
    int slot = pick_slot();
    if (!graph)
        return;
    struct graph_nodes nodes = enabled_nodes(graph);
    if (can_launch(&nodes, operations, list_operations(graph, &nodes, slot, operations)))
        launch(graph, &nodes, slot);
}

#endif
