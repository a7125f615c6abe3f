/* What graphs do with device memory that streams share, and kernel nodes: a launch is one operation
 * with all of these uses (SC501, SC502 and, of addresses of buffers, what random_kernels.h says).
 *
 * The library looks at the nodes one by one, in the order in which it came to know them: as the
 * driver lists them, and behind those what was changed in the exec. Kernels come last, by address.
 * What a graph uploads goes to cells of its own, which its execs share. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_GRAPH_DEVICE_H
#define SC_TESTS_FUZZ_RANDOM_GRAPH_DEVICE_H

enum { GRAPH_USES = GRAPH_NODES + 2 * GRAPH_DEVICE, RACES_MAX = 16 };

struct graph_launch_uses {
    int device_count, address_count;
    struct device_use device[GRAPH_USES];
    struct graph_address addresses[GRAPH_ADDRESSES];
};

/* ---- nodes ---- */

static bool is_block_alive(int block)
{
    return world.watches_device && shared.blocks[block].alive;
}

/* `a` came before `b`. What was captured before there were two branches comes before both of them,
 * and a child behind all. */
static bool are_unordered(const struct graph_device_node *a, const struct graph_device_node *b)
{
    return a->child == b->child && a->is_forked && a->branch != b->branch;
}

/* Common bytes of which one of the two writes: pairs of uses. */
static int count_clashes(const struct graph_device_node *a, const struct graph_device_node *b)
{
    int count = uses_meet(&a->to, &b->to);
    if (a->copies)
        count += uses_meet(&a->from, &b->to);
    if (b->copies)
        count += uses_meet(&a->to, &b->from);
    return count;
}

/* KNOWN: within a child no races are found, nor of a node that was changed in the exec. */
static bool is_compared(const struct graph_device_node *node)
{
    return !node->child && !node->is_changed;
}

static int count_races(const struct graph_nodes *nodes, bool found)
{
    int count = 0;
    for (int i = 0; i < nodes->device_count; i++)
        for (int k = 0; k < i; k++) {
            const struct graph_device_node *a = &nodes->device[k], *b = &nodes->device[i];
            if (are_unordered(a, b) && (is_compared(a) && is_compared(b)) == found)
                count += count_clashes(a, b);
        }
    return count;
}

static bool have_races(const struct graph_nodes *nodes)
{
    return count_races(nodes, true) || count_races(nodes, false);
}

static bool races(const struct graph_nodes *nodes, const struct graph_device_node *node)
{
    struct graph_nodes with = *nodes;
    with.device[with.device_count++] = *node;
    return have_races(&with);
}

/* Which memory the node uses; false: there is none. */
static bool pick_uses(struct graph_device_node *node)
{
    int at = below(DEVICE_BLOCKS), other = (at + 1) % DEVICE_BLOCKS;
    if (!is_block_alive(at) || (node->copies && !is_block_alive(other)))
        return false;
    node->to = use_of(at, 0, false);
    if (node->copies) {
        node->from = use_of(other, 0, true);
        node->from.size_bytes = node->to.size_bytes;
        node->from.offset = DEVICE_BLOCK_BYTES - node->to.size_bytes;
    }
    return true;
}

static void say_device_node(const char *what, const struct graph_device_node *node)
{
    say("%s: %s to device block %d, %zu bytes at %zu", what, node->copies ? "copy" : "memset",
        node->to.block, node->to.size_bytes, node->to.offset);
}

static CUgraphNode last_captured(CUstream stream);

static void capture_device_node(struct graph *graph, int branch)
{
    struct graph_nodes *nodes = &graph->own;
    CUstream stream = world.slots[capture.slots[branch]].handle;
    struct graph_device_node node = {.place = next_place(),
                                     .copies = one_in(2),
                                     .value = (unsigned char)draw(),
                                     .branch = branch,
                                     .is_forked = capture.slots[1] != NOBODY};
    if (nodes->device_count == GRAPH_DEVICE || !pick_uses(&node) ||
        (world.correct && races(nodes, &node)))
        return;
    say_device_node(branch ? "captured in branch 1" : "captured in branch 0", &node);
    if (node.copies)
        CHECK(cuMemcpyDtoDAsync(address_of_use(&node.to), address_of_use(&node.from),
                                node.to.size_bytes, stream));
    else
        CHECK(cuMemsetD8Async(address_of_use(&node.to), node.value, node.to.size_bytes, stream));
    node.name = last_captured(stream);
    nodes->device[nodes->device_count++] = node;
}

static void add_address(struct graph_nodes *nodes, const struct graph_address *address)
{
    int at = nodes->address_count;
    for (int i = 0; i < nodes->address_count; i++)
        if (nodes->addresses[i].address == address->address)
            return;
    for (; at > 0 && nodes->addresses[at - 1].address > address->address; at--)
        nodes->addresses[at] = nodes->addresses[at - 1];
    nodes->addresses[at] = *address;
    nodes->address_count++;
}

static void add_addresses(struct graph_nodes *nodes, const struct launch_uses *launch)
{
    for (int i = 0; i < launch->device_count; i++)
        add_address(nodes, &(struct graph_address){.address = address_of_use(&launch->device[i]),
                                                   .device = launch->device[i]});
    for (int i = 0; i < launch->host_count; i++)
        add_address(nodes, &(struct graph_address){.address = launch->host[i].address,
                                                   .of_host = true,
                                                   .host = launch->host[i]});
}

static void capture_kernel(struct graph *graph)
{
    struct graph_nodes *nodes = &graph->own;
    struct launch_uses launch = {.slot = capture.slots[0]};
    if (!world.kernels || is_told_of(nodes) || nodes->wait_count ||
        nodes->address_count + KERNEL_ADDRESSES > GRAPH_ADDRESSES)
        return;
    for (int i = 0; i < KERNEL_ADDRESSES; i++) {
        if (one_in(2))
            pick_device_address(&launch);
        else
            pick_host_address(&launch);
    }
    if (!launch.count)
        return;
    say_uses("captured: kernel", &launch);
    call_kernel(&launch);
    add_addresses(nodes, &launch);
}

/* The nodes of a child, behind all that there is; false: there is no room. */
static bool can_add_uses(const struct graph_nodes *nodes, const struct graph_nodes *child)
{
    return nodes->device_count + child->device_count <= GRAPH_DEVICE &&
           nodes->address_count + child->address_count <= GRAPH_ADDRESSES &&
           !(is_told_of(nodes) && child->address_count);
}

static void add_uses(struct graph_nodes *nodes, const struct graph_nodes *child)
{
    uint64_t after = places;
    for (int i = 0; i < child->device_count; i++) {
        nodes->device[nodes->device_count] = child->device[i];
        nodes->device[nodes->device_count].child += (int)after;
        nodes->device[nodes->device_count].name = NULL;
        nodes->device[nodes->device_count++].place += after;
    }
    for (int i = 0; i < child->address_count; i++)
        add_address(nodes, &child->addresses[i]);
    for (int i = 0; i < child->count; i++)
        nodes->list[nodes->count - child->count + i].place += after;
    places = 2 * after;
}

/* ---- the uses of a launch ---- */

static struct device_use use_of_cell(const struct cell *cell)
{
    return (struct device_use){.block = DEVICE_BLOCKS + (int)(cell - cells),
                               .size_bytes = cell->size_bytes};
}

static void insert_use(struct graph_launch_uses *uses, uint64_t *order, struct device_use use,
                       int told, uint64_t place)
{
    int at = uses->device_count++;
    use.told = told;
    for (; at > 0 && order[at - 1] > place; at--) {
        uses->device[at] = uses->device[at - 1];
        order[at] = order[at - 1];
    }
    uses->device[at] = use;
    order[at] = place;
}

static struct graph_launch_uses list_uses(const struct graph_nodes *nodes)
{
    struct graph_launch_uses uses = {.device_count = 0};
    uint64_t order[GRAPH_USES];
    for (int i = 0; i < nodes->count && world.watches_device; i++)
        if (nodes->list[i].direction == H2D)
            insert_use(&uses, order, use_of_cell(nodes->list[i].cell), nodes->list[i].told,
                       nodes->list[i].place);
    for (int i = 0; i < nodes->device_count; i++) {
        const struct graph_device_node *node = &nodes->device[i];
        if (node->copies)
            insert_use(&uses, order, node->from, node->told, node->place);
        insert_use(&uses, order, node->to, node->told, node->place);
    }
    uses.address_count = nodes->address_count;
    memcpy(uses.addresses, nodes->addresses, sizeof uses.addresses);
    return uses;
}

/* On the slot, in this stream. */
static void put_uses(struct graph_launch_uses *uses, struct graph *graph, int slot, int stream)
{
    for (int i = 0; i < uses->device_count; i++) {
        uses->device[i].slot = slot;
        uses->device[i].stream = stream;
    }
    for (int i = 0; i < uses->address_count; i++) {
        struct graph_address *address = &uses->addresses[i];
        address->device.slot = address->host.slot = slot;
        address->device.stream = address->host.stream = stream;
        address->host.graph = graph;
    }
}

/* Memory that is another one by now is not the program's to use. */
static bool can_use(const struct graph_launch_uses *uses)
{
    bool can = device_uses.count + GRAPH_USES + GRAPH_ADDRESSES < DEVICE_USES_MAX &&
               world.copy_count + GRAPH_NODES + GRAPH_ADDRESSES <= COPIES_MAX;
    for (int i = 0; i < uses->device_count; i++) {
        const struct device_use *use = &uses->device[i];
        can &= use->life == life_of(use->block) &&
               (use->block >= DEVICE_BLOCKS || shared.blocks[use->block].alive) &&
               count_uses(use->block) < USES_AT_A_TIME / 2;
    }
    for (int i = 0; i < uses->address_count; i++) {
        const struct device_use *use = &uses->addresses[i].device;
        const struct copy *host = &uses->addresses[i].host;
        if (uses->addresses[i].of_host)
            can &= world.buffers[host->buffer].alive && is_on(host, host->buffer) &&
                   count_in_flight(host->buffer) + GRAPH_ADDRESSES < PER_BUFFER_MAX;
        else
            can &= shared.blocks[use->block].alive && use->life == life_of(use->block) &&
                   count_uses(use->block) < USES_AT_A_TIME / 2;
    }
    return can;
}

static void order_before_uses(const struct graph_launch_uses *uses)
{
    for (int i = 0; i < uses->device_count; i++)
        order_before_use(&uses->device[i]);
    for (int i = 0; i < uses->address_count; i++) {
        if (!uses->addresses[i].of_host)
            order_before_use(&uses->addresses[i].device);
        else if (world.correct)
            avoid_conflicts(&uses->addresses[i].host);
    }
}

static void judge_launch_uses(struct graph_launch_uses *uses, int node)
{
    for (int i = 0; i < uses->device_count; i++)
        judge_use(&uses->device[i], node);
    for (int i = 0; i < uses->address_count; i++)
        if (!uses->addresses[i].of_host)
            judge_use(&uses->addresses[i].device, node);
    for (int i = 0; i < uses->address_count; i++) {
        struct copy *host = &uses->addresses[i].host;
        if (!uses->addresses[i].of_host)
            continue;
        host->node = node;
        meet_unordered(host, node);
        meet_unhealed(host, node);
    }
    for (int i = 0; i < uses->address_count; i++)
        if (uses->addresses[i].of_host)
            seal_for_kernel(&uses->addresses[i].host, node);
}

/* Is anything of the step done with device memory? */
static bool has_step(const struct graph_launch_uses *uses, int told)
{
    bool found = false;
    for (int i = 0; i < uses->device_count; i++)
        found |= uses->device[i].told == told;
    return found;
}

static void keep_step(const struct graph_launch_uses *uses, int told, int node)
{
    for (int i = 0; i < uses->device_count; i++)
        if (uses->device[i].told == told)
            keep_use(uses->device[i], node);
}

/* Behind the call: what kernels have addresses of comes first, of buffers with a mark. */
static void keep_launch_uses(struct graph_launch_uses *uses, int node)
{
    for (int i = 0; i < uses->address_count; i++) {
        if (!uses->addresses[i].of_host)
            continue;
        protect(&uses->addresses[i].host);
        keep_copy(&uses->addresses[i].host);
    }
    for (int i = 0; i < uses->address_count; i++)
        if (!uses->addresses[i].of_host)
            keep_use(uses->addresses[i].device, node);
    for (int i = 0; i < uses->device_count; i++)
        keep_use(uses->device[i], node);
}

/* Two nodes of one launch that no edge orders, as far as there is room for them: told once.
 * KNOWN: none are looked for where nodes wait for events, and others tell how far the launch is. */
static void expect_races(struct graph *graph, const struct graph_nodes *nodes)
{
    bool found = world.watches_device && !(nodes->wait_count && is_told_of(nodes));
    int count = found ? count_races(nodes, true) : 0;
    shared.tainted |= have_races(nodes);
    for (int i = 0; i < count && i < RACES_MAX && !graph->races_told; i++)
        expect_call(DEVICE_IN_FLIGHT, true);
    graph->races_told = true;
}

static void move_device_bytes(const struct graph_nodes *nodes)
{
    for (int i = 0; i < nodes->device_count; i++) {
        const struct graph_device_node *node = &nodes->device[i];
        if (node->copies)
            memcpy(shadow_of_use(&node->to), shadow_of_use(&node->from), node->to.size_bytes);
        else
            memset(shadow_of_use(&node->to), node->value, node->to.size_bytes);
    }
}

#endif
