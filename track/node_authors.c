#include "track/node_authors.h"

#include <stdbool.h>

#include "track/pool.h"
#include "track/shape.h"

#include "track/poison.h"

/* Sets of a few places, by graph and bytes. The one that was noted first gives way. */
enum { WAYS = 8, SETS = SC_NODE_AUTHORS_MAX / WAYS };

struct sc_node_author {
    uintptr_t graph, node;
    uintptr_t address;
    size_t size_bytes;
    enum sc_direction direction;
    enum sc_device_access access;
    uint32_t number; /* 0: the place is free */
    struct sc_graph_author by;
};

void sc_node_authors_destroy(struct sc_node_authors *authors)
{
    if (authors->list)
        sc_pages_unmap(authors->list, SC_NODE_AUTHORS_MAX * sizeof *authors->list);
    *authors = (struct sc_node_authors){NULL, 0};
}

static struct sc_node_author *set_of(const struct sc_node_authors *authors, uintptr_t graph,
                                     const struct sc_device_use *use)
{
    uint64_t key = graph * 0x9E3779B97F4A7C15u ^ use->shape.address;
    key = (key ^ key >> 31) * 0xC2B2AE3D27D4EB4Fu;
    return &authors->list[(key >> 40) % SETS * WAYS];
}

static bool does(const struct sc_node_author *author, uintptr_t graph,
                 const struct sc_device_use *use)
{
    return author->number && author->graph == graph && author->address == use->shape.address &&
           author->size_bytes == sc_shape_hull_bytes(&use->shape) &&
           author->direction == use->direction && author->access == use->access;
}

void sc_node_authors_note(struct sc_node_authors *authors, uintptr_t graph, uintptr_t node,
                          const struct sc_device_use *use, const struct sc_graph_author *by)
{
    if (!authors->list)
        authors->list = sc_pages_map(SC_NODE_AUTHORS_MAX * sizeof *authors->list);
    if (!authors->list)
        return;
    struct sc_node_author *set = set_of(authors, graph, use), *place = set;
    for (unsigned i = 1; i < WAYS; i++)
        if (set[i].number < place->number)
            place = &set[i];
    for (unsigned i = 0; i < WAYS; i++)
        if (does(&set[i], graph, use) && set[i].node == node &&
            (node || (set[i].by.api == by->api && set[i].by.stack == by->stack)))
            place = &set[i];
    if (++authors->noted == 0)
        authors->noted = 1;
    *place = (struct sc_node_author){
        .graph = graph,
        .node = node,
        .address = use->shape.address,
        .size_bytes = sc_shape_hull_bytes(&use->shape),
        .direction = use->direction,
        .access = use->access,
        .number = authors->noted,
        .by = *by,
    };
}

struct sc_graph_author sc_node_authors_find(const struct sc_node_authors *authors, uintptr_t graph,
                                            uintptr_t node, const struct sc_device_use *use)
{
    const struct sc_node_author *set = authors->list ? set_of(authors, graph, use) : NULL;
    struct sc_graph_author found = {.api = NULL};
    bool several = false;
    for (unsigned i = 0; set && i < WAYS; i++) {
        if (!does(&set[i], graph, use))
            continue;
        if (node && set[i].node == node)
            return set[i].by;
        several |= !set[i].node && found.api;
        if (!set[i].node)
            found = set[i].by;
    }
    return several ? (struct sc_graph_author){.api = NULL} : found;
}
