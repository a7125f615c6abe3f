/* What is kept of graphs and execs, and of the memory that they name.
 *
 * A launch is an operation on host memory for each run of neighbouring bytes that its copies read
 * or write, one after the other; it comes after the former launch of the same exec. A node may
 * record an event, which then stands for what the launch comes after and for the nodes before it. A
 * host node may tell the same when it runs; the program waits for that when it has launched.
 * What graphs name may be freed, as long as nobody launches them any more: each node that names
 * freed memory is a hazard of the launch. Such memory keeps the bytes that it had, and launches go
 * on to read and write them. Pageable memory is read while the launch is called, and a launch that
 * writes some returns when it is complete. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_GRAPHS_H
#define SC_TESTS_FUZZ_RANDOM_GRAPHS_H

enum {
    GRAPHS = 3,
    GRAPH_NODES = 6,
    GRAPH_RECORDS = 4,
    GRAPH_WAITS = 2,
    GRAPH_DEVICE = 6,
    GRAPH_ADDRESSES = 6,
    CELLS = 64,
    PAGEABLES = 3,
    CORPSES = 24,
    GHOSTS = 64
};

/* Blocks of the heap that are not registered. */
static struct buffer pageables[PAGEABLES];

/* What was in flight when memory was given back. */
struct taken {
    int count;
    bool written; /* by one of them */
    int nodes[PER_BUFFER_MAX];
};

/* Memory that was given back while a graph named it. */
static struct corpse {
    int memory;
    bool usable; /* a launch that names it does no harm */
    struct taken taken;
    unsigned char *bytes;
    unsigned char expected[BUFFER_BYTES];
} corpses[CORPSES];
static int corpse_count;

/* Where on the device the copies of a graph go to. */
static struct cell {
    size_t size_bytes, device_offset;
    uintptr_t address; /* of the source */
    int written_by;    /* the last launch, a node of the oracle */
    bool tainted;
} cells[CELLS];
static int cell_count;

/* Of an address among a kernel's parameters: one of the two. */
struct graph_address {
    CUdeviceptr address;
    bool of_host;
    struct device_use device;
    struct copy host;
};

/* A memset of device memory, or a copy within it. */
struct graph_device_node {
    uint64_t place; /* as of graph_node */
    bool copies;
    struct device_use from, to;
    unsigned char value;
    int branch;
    bool is_forked;   /* there were two branches */
    int child;        /* a name for it; 0: in none */
    CUgraphNode name; /* NULL: in a child */
    bool is_changed;  /* in the exec, after that was made */
    int told;         /* as of graph_node */
};

struct graph_node {
    uint64_t place; /* in the order in which the library knows the nodes */
    int direction;
    struct buffer *buffer;
    int memory; /* of the buffer then */
    int branch; /* captured in: the first stream, 0, or the second */
    size_t offset, size_bytes;
    size_t device_offset; /* in the source, for a copy from the device */
    struct cell *cell;
    unsigned char value;
    uintptr_t address;
    CUgraphNode name;   /* NULL: in a child */
    bool freed;         /* and the graph or the exec knows */
    bool added;         /* by hand, behind all others */
    CUgraphNode around; /* in whose body it is; NULL: in none */
    bool disabled;      /* in the exec */
    int told;           /* the first record of an event behind it, as its index + 1; 0: none */
};

struct graph_nodes {
    int count;
    struct graph_node list[GRAPH_NODES];
    int record_count;
    int records[GRAPH_RECORDS]; /* events that nodes record, one behind the other */
    bool has_host;              /* behind all others */
    int wait_count;
    int waits[GRAPH_WAITS]; /* events that nodes wait for */
    int device_count, address_count;
    struct graph_device_node device[GRAPH_DEVICE];
    struct graph_address addresses[GRAPH_ADDRESSES];
};

static atomic_int hosts_run;

static struct graph {
    CUgraph handle;   /* NULL: none */
    CUgraphExec exec; /* the same */
    bool is_captured; /* at this moment */
    bool is_original; /* the exec was made from the graph, and knows its nodes by their names */
    bool is_reshaped; /* the graph has had more or fewer nodes since */
    bool races_told;  /* by a launch of the exec as it is */
    struct graph_nodes own, made; /* of the graph, and of the exec */
    int last;                     /* launch of the exec, a node of the oracle */
    int heard;                    /* by the host node of that launch, the same */
} graphs[GRAPHS];

/* Launches that use freed memory. */
static struct ghost {
    int node, memory;
    bool writes;
} ghosts[GHOSTS];
static int ghost_count;

static bool is_empty(const struct graph *graph)
{
    return !graph->handle && !graph->exec && !graph->is_captured;
}

static bool has_handle(const struct graph *graph)
{
    return graph->handle != NULL;
}

static bool has_no_exec(const struct graph *graph)
{
    return graph->handle && !graph->exec;
}

static bool has_exec(const struct graph *graph)
{
    return graph->exec != NULL;
}

/* The driver copies no graph that has bodies. */
static bool can_be_copied(const struct graph *graph)
{
    bool can = true;
    for (int i = 0; i < graph->own.count; i++)
        can &= !graph->own.list[i].around;
    return can;
}

static uint64_t places; /* given in this program */

static uint64_t next_place(void)
{
    return ++places;
}

/* KNOWN: where a node tells how far the launch has come, its kernels are not held against anything.
 */
static bool is_told_of(const struct graph_nodes *nodes)
{
    return nodes->record_count || nodes->has_host;
}

static struct graph *pick_graph(bool (*is_fit)(const struct graph *))
{
    int at = below(GRAPHS);
    for (int i = 0; i < GRAPHS; i++, at = (at + 1) % GRAPHS)
        if (is_fit(&graphs[at]))
            return &graphs[at];
    return NULL;
}

static bool records(const struct graph_nodes *nodes, int event)
{
    bool found = false;
    for (int i = 0; i < nodes->record_count; i++)
        found |= nodes->records[i] == event;
    return found;
}

static bool awaits(const struct graph_nodes *nodes, int event)
{
    bool found = false;
    for (int i = 0; i < nodes->wait_count; i++)
        found |= nodes->waits[i] == event;
    return found;
}

static bool name_event(const struct graph_nodes *nodes, int event)
{
    return records(nodes, event) || awaits(nodes, event);
}

static bool is_named_by_nodes(int event)
{
    bool found = false;
    for (int i = 0; i < GRAPHS; i++)
        found |=
            ((graphs[i].handle || graphs[i].is_captured) && name_event(&graphs[i].own, event)) ||
            (graphs[i].exec && name_event(&graphs[i].made, event));
    return found;
}

/* ---- memory ---- */

static bool is_pageable(const struct graph_node *node)
{
    return node->buffer >= pageables && node->buffer < pageables + PAGEABLES;
}

static bool is_graph(const struct graph *graph)
{
    return graph->handle || graph->is_captured;
}

static bool names(const struct graph_nodes *nodes, int memory)
{
    bool found = false;
    for (int i = 0; i < nodes->count; i++)
        found |= nodes->list[i].memory == memory;
    return found;
}

static bool is_named(int memory)
{
    bool named = false;
    for (int i = 0; i < GRAPHS; i++)
        named |= (is_graph(&graphs[i]) && names(&graphs[i].own, memory)) ||
                 (graphs[i].exec && names(&graphs[i].made, memory));
    return named;
}

static void note_freed_in(struct graph_nodes *nodes, int memory)
{
    for (int i = 0; i < nodes->count; i++)
        nodes->list[i].freed |= nodes->list[i].memory == memory;
}

static void note_freed(int memory)
{
    for (int i = 0; i < GRAPHS; i++) {
        note_freed_in(&graphs[i].own, memory);
        note_freed_in(&graphs[i].made, memory);
    }
}

static bool can_bury(const struct buffer *buffer)
{
    return corpse_count < CORPSES || !is_named(buffer->memory);
}

static struct corpse *corpse_of(int memory)
{
    for (int i = 0; i < corpse_count; i++)
        if (corpses[i].memory == memory)
            return &corpses[i];
    return NULL;
}

/* About to be given back. Without the library's help a launch must not follow, but for heap that is
 * as registered or pageable as it was. */
static void bury(const struct buffer *buffer, const struct taken *taken)
{
    bool pageable = buffer >= pageables && buffer < pageables + PAGEABLES;
    bool stays = pageable || (buffer->kind == REGISTERED && !buffer->alive);
    if (!is_named(buffer->memory))
        return;
    struct corpse *corpse = &corpses[corpse_count++];
    note_freed(buffer->memory);
    corpse->memory = buffer->memory;
    corpse->usable = world.healed || stays;
    corpse->taken = *taken;
    corpse->bytes = buffer->bytes;
    memcpy(corpse->expected, buffer->expected, buffer->size_bytes);
    say("  a graph names it");
}

static bool writes_what_is_freed(void)
{
    bool writes = false;
    for (int i = 0; i < ghost_count; i++)
        writes |= ghosts[i].writes && !is_known_done(ghosts[i].node);
    return writes;
}

static bool is_alive(const struct graph_node *node)
{
    return node->buffer->alive && node->buffer->memory == node->memory;
}

/* What the bytes of the node should be, and would be after the launch. */
static unsigned char *shadow_of(const struct graph_node *node)
{
    struct corpse *corpse = is_alive(node) ? NULL : corpse_of(node->memory);
    return (corpse ? corpse->expected : node->buffer->expected) + node->offset;
}

static void taint_cells(uintptr_t start, uintptr_t end)
{
    for (int i = 0; i < cell_count; i++)
        if (cells[i].address < end && start < cells[i].address + cells[i].size_bytes)
            cells[i].tainted = true;
}

#endif
